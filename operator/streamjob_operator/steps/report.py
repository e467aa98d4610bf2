"""Tell everyone who listens."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from streamjob_operator.ports import Reporter
from streamjob_operator.values import CycleRecord, Memory

ERRORS = "ReporterErrors"


def report(reporters: Iterable[Reporter], record: CycleRecord, memory: Memory) -> Memory:
    """The memory, with errors of reporters counted."""
    errors = sum(not _told(reporter, record) for reporter in reporters)
    if not errors:
        return memory
    counters = {**memory.counters, ERRORS: memory.counters.get(ERRORS, 0) + errors}
    return dataclasses.replace(memory, counters=counters)


def _told(reporter: Reporter, record: CycleRecord) -> bool:
    try:
        reporter.report(record)
    except Exception:  # noqa: BLE001 - counted; a view that fails must not change what the cycle does
        return False
    return True
