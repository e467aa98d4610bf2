"""The newest scaling decision, wherever it was kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from streamjob_operator.asking.measured import Measured, Unanswerable, of_record
from streamjob_operator.singles import SingleBatches, single_batches
from streamjob_operator.steps import headroom, speeds
from streamjob_operator.steps.memory_advice import told_advice
from streamjob_operator.values import CycleRecord


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What it rested on and what came of it.

    `needed` and `target` are None where the cycle was held before it asked the rule; `least` and `most` are the job's
    bounds, None where nobody told them; `advice` is about executors' memory, None where there is none; `singles` says
    how far the window's batches were from what was predicted of each, None where none was; `world` is what else bears
    on it: load survived, executors that are slower or faster than most.
    """

    name: str
    measured: Measured
    needed: int | None
    target: int | None
    reason: str
    message: str
    least: int | None = None
    most: int | None = None
    advice: str | None = None
    singles: SingleBatches | None = None
    world: tuple[str, ...] = ()


def decided(record: CycleRecord, name: str, least: int | None, most: int | None) -> Decided:
    """Of one cycle; raises Unanswerable."""
    scaling = record.scaling
    return Decided(
        name=name,
        measured=of_record(record),
        needed=None if scaling is None else scaling.needed,
        target=None if scaling is None else scaling.target,
        reason=(record.verdict if scaling is None else scaling).reason.value,
        message=(record.verdict if scaling is None else scaling).message,
        least=least,
        most=most,
        advice=None if record.memory_advice is None else told_advice(record.memory_advice),
        singles=single_batches([record.batch_times]),
        world=_world(record),
    )


def _world(record: CycleRecord) -> tuple[str, ...]:
    survived = () if record.room is None else (headroom.sentence(record.room),)
    return (*survived, *(() if record.memory is None else speeds.sentences(record.memory)))


def newest(newest_first: Iterable[CycleRecord], name: str, least: int | None, most: int | None) -> Decided:
    """Of the newest cycle that tells; raises Unanswerable with what the newest one lacks."""
    why = "there is no cycle"
    for record in newest_first:
        try:
            return decided(record, name, least, most)
        except Unanswerable as error:
            why = str(error) if why == "there is no cycle" else why
    raise Unanswerable(why)
