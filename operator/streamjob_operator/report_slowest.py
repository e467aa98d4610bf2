"""The report's account of the slowest batch: a row for each part of it, with a bar and a sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from streamjob_operator.counting import executors
from streamjob_operator.slowest import SlowBatch, StagePart

MOST_NAMED = 8
"""Executors whose seconds are told one by one; of more, those that worked longest."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part of the batch. `start_pct`, `work_pct` and `other_pct` are those of its bar, in percent of the batch."""

    name: str
    seconds: float
    start_pct: float
    work_pct: float
    other_pct: float
    what: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The section: a sentence, and the rows in the order in which the parts ran."""

    sentence: str
    rows: tuple[Row, ...]


def account(batch: SlowBatch, since_start_s: float) -> Account:
    """The section of a batch that ended so many seconds after the first measurement."""
    rows, start_s = [], 0.0
    for name, seconds, work_s, what in _parts(batch):
        row = Row(
            name=name,
            seconds=seconds,
            start_pct=_pct(start_s, batch),
            work_pct=_pct(work_s, batch),
            other_pct=_pct(max(0.0, seconds - work_s), batch),
            what=what,
        )
        rows.append(row)
        start_s += seconds
    return Account(sentence=_sentence(batch, since_start_s), rows=tuple(rows))


def _sentence(batch: SlowBatch, since_start_s: float) -> str:
    said = f"It ended at {since_start_s:.0f} s and took {batch.measured_s:.2f} s"
    said += "" if batch.predicted_s is None else f"; {batch.predicted_s:.2f} s were predicted from its tasks"
    happened = []
    if batch.moved:
        happened.append(f"{batch.moved} key groups ran on another executor than before and loaded their state")
    if batch.executors_changed:
        happened.append(f"{executors(batch.executors_changed)} came or went")
    return f"{said}. {'; '.join(happened).capitalize()}." if happened else f"{said}."


def _parts(batch: SlowBatch) -> Iterator[tuple[str, float, float, str]]:
    """Name, seconds, those of them in which the binding executor worked, what they were spent on."""
    yield "planning", batch.planning_s, 0.0, "offsets, files of the source, the plan of the batch"
    for number, stage in enumerate(batch.stages, start=1):
        name = "without key groups" if stage.operator is None else f"operator {stage.operator}"
        worked_s = stage.wall_s if stage.operator is None else min(stage.wall_s, (stage.binding or ("", 0.0))[1])
        yield f"stage {number}, {name}", stage.wall_s, worked_s, _of_stage(stage)
    yield "launching, sink", batch.rest_s, 0.0, "what the driver does beside: launching tasks, running the sink"
    yield "commit", batch.commits_s, 0.0, "the logs of offsets and commits"


def _of_stage(stage: StagePart) -> str:
    if stage.operator is None:
        return "reading the source, or what no key group does"
    said = [_by_executor(stage)] if stage.work_s else ["who owned its key groups is not known"]
    told = (("starting tasks and loading state", stage.extra_s), ("waiting for a slot", stage.wait_s))
    beside = [f"{what} {seconds:.2f} s" for what, seconds in told if seconds >= 0.005]
    said += [f"of all its tasks together: {', '.join(beside)}"] if beside else []
    return "; ".join(said)


def _by_executor(stage: StagePart) -> str:
    order = sorted(stage.work_s, key=lambda one: -one[1])
    (name, seconds), others = order[0], order[1:MOST_NAMED]
    said = f"executor {name} worked longest, {seconds:.2f} s"
    return f"{said} ({', '.join(f'{other}: {less:.2f}' for other, less in others)})" if others else said


def _pct(seconds: float, batch: SlowBatch) -> float:
    return round(100.0 * seconds / batch.measured_s, 2) if batch.measured_s > 0 else 0.0
