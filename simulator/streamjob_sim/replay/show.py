"""Replays beside each other and beside what was recorded, for a terminal, a page or a program."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamjob_operator.recording.trace import Trace
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.view_panels import DASH
from streamjob_sim.replay.run import Late, Replayed

MOST_LATE = 5
"""Late times that are told of one run, the longest first."""
RECORDED = "as recorded"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What the trace itself tells; parts are None where nobody knows."""

    executor_h: float | None
    peak: int | None
    late_pct: float | None


def recorded(trace: Trace, objective_s: float) -> Recorded:
    """Steps without a figure count as the mean of the others. A step is late where its mean batch is."""
    executors = [one for one in trace.executors or () if one is not None]
    batches = [one for one in trace.batch_seconds or () if one is not None]
    return Recorded(
        executor_h=sum(executors) / len(executors) * trace.duration_s / 3600.0 if executors else None,
        peak=max(executors, default=None),
        late_pct=100.0 * sum(one > objective_s for one in batches) / len(batches) if batches else None,
    )


def rows(trace: Trace, runs: Sequence[Replayed], objective_s: float, price: float | None) -> Iterator[tuple[str, ...]]:
    """Name of a figure, what was recorded, then each run's."""
    before = recorded(trace, objective_s)
    yield "executor-hours", _number(before.executor_h), *(f"{one.executor_h:,.1f}" for one in runs)
    if price is not None:
        money = None if before.executor_h is None else price * before.executor_h
        yield "cost", _number(money, 2), *(f"{price * one.executor_h:,.2f}" for one in runs)
    peak_h = None if before.peak is None else before.peak * trace.duration_s / 3600.0
    yield "most executors", DASH if before.peak is None else str(before.peak), *(str(one.peak) for one in runs)
    yield (
        "saved against them always",
        _saved(before.executor_h, peak_h),
        *(_saved(one.executor_h, one.peak_h) for one in runs),
    )
    late = f"time in batches above {format_duration(objective_s)}"
    yield (
        late,
        DASH if before.late_pct is None else f"{before.late_pct:.2f} %",
        *(f"{one.late_pct:.2f} %" for one in runs),
    )
    yield "batch, median", DASH, *(f"{one.p50_s:.2f} s" for one in runs)
    yield "batch, 99 of 100 below", DASH, *(f"{one.p99_s:.2f} s" for one in runs)
    yield "result's age, 99 of 100 below", DASH, *(f"{one.p99_latency_s:.2f} s" for one in runs)
    yield "rows waiting, most", DASH, *(f"{one.most_waiting:,.0f}" for one in runs)
    yield "scaled out / in", DASH, *(f"{one.scale_outs} / {one.scale_ins}" for one in runs)
    yield "changes of direction", DASH, *(str(one.turns_back) for one in runs)


def render(trace: Trace, runs: Sequence[Replayed], objective_s: float, price: float | None) -> RenderableType:
    """The table, and below it when each run was late."""
    table = Table(title=title(trace), title_justify="left")
    table.add_column("")
    for name in (RECORDED, *(one.name for one in runs)):
        table.add_column(name, justify="right")
    for row in rows(trace, runs, objective_s, price):
        table.add_row(*row)
    parts: list[RenderableType] = [table]
    for one in runs:
        parts += [Text(f"{one.name}: {sentence}") for sentence in late_sentences(one.late, trace.start)]
    if trace.unknown:
        parts.append(
            Text(f"{trace.unknown} of {len(trace.rate)} steps have no rate; that of the step before was taken.")
        )
    return Group(*parts)


def title(trace: Trace) -> str:
    """What is replayed."""
    return f"{trace.job}, {format_duration(round(trace.duration_s))} from {_clock(trace.start)} UTC"


def late_sentences(late: Sequence[Late], start_s: float) -> Iterator[str]:
    """The longest late times, in the order of time."""
    longest = sorted(late, key=lambda one: one.from_s - one.to_s)[:MOST_LATE]
    if not late:
        yield "never late."
    for one in sorted(longest, key=lambda one: one.from_s):
        lasted = format_duration(round(one.to_s - one.from_s))
        yield (
            f"late from {_clock(start_s + one.from_s)} for {lasted}, the longest batch {one.worst_batch_s:.1f} s, "
            f"{one.most_waiting:,.0f} rows waiting at most."
        )
    if len(late) > MOST_LATE:
        yield f"late {len(late) - MOST_LATE} more times, each shorter."


def document(trace: Trace, runs: Sequence[Replayed], objective_s: float, price: float | None) -> dict[str, Any]:
    """The same for a program."""
    return {
        "kind": "replay",
        "version": 1,
        "job": trace.job,
        "start": trace.start,
        "durationSeconds": trace.duration_s,
        "objectiveSeconds": objective_s,
        "recorded": dataclasses.asdict(recorded(trace, objective_s)),
        "runs": [_run(one, price) for one in runs],
    }


def _run(run: Replayed, price: float | None) -> dict[str, Any]:
    figures = {field.name: getattr(run, field.name) for field in dataclasses.fields(run) if field.name != "score"}
    late = [dataclasses.asdict(one) for one in run.late]
    return {**figures, "late": late, "cost": None if price is None else price * run.executor_h}


def _saved(used_h: float | None, always_h: float | None) -> str:
    return DASH if used_h is None or not always_h else f"{100.0 * (1.0 - used_h / always_h):.1f} %"


def _number(value: float | None, digits: int = 1) -> str:
    return DASH if value is None else f"{value:,.{digits}f}"


def _clock(at_s: float) -> str:
    return time.strftime("%a %Y-%m-%d %H:%M", time.gmtime(at_s))
