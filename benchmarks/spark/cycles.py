"""What StreamJob's controller did in each cycle: what woke it, which executors it held for slow, what it moved."""

from __future__ import annotations

import pathlib
from typing import Any

from streamjob_operator.history import read_history
from streamjob_operator.steps.speeds import unequal
from streamjob_operator.values import CycleRecord


def cycles_of(history: pathlib.Path) -> list[dict[str, Any]]:
    """One row for each cycle, oldest first."""
    return [_cycle(record) for record in read_history(history).cycles]


def _cycle(record: CycleRecord) -> dict[str, Any]:
    verdict, memory = record.verdict, record.memory
    return {
        "at_s": record.at_s,
        "woken_by": [event.kind.value for event in record.woken],
        "speeds": {} if memory is None else {name: pace.speed for name, pace in unequal(memory).items()},
        "reason": verdict.reason.value,
        "moves": len(verdict.plan.moves) if verdict.act and verdict.plan is not None else 0,
        "message": verdict.message,
    }
