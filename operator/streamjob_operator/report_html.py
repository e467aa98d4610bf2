"""The report: one HTML file with everything inside, made from a history file alone."""

from __future__ import annotations

import dataclasses
import pathlib
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jinja2
import numpy as np

from streamjob_operator import report_plots as plots
from streamjob_operator.digest import CycleDigest, digest
from streamjob_operator.files import write_whole
from streamjob_operator.history import HistoryError, Notes, cycles_of, notes_of
from streamjob_operator.report_slowest import account
from streamjob_operator.singles import single_batches
from streamjob_operator.slowest import SlowBatch, Slowest
from streamjob_operator.values import CycleRecord, Room
from streamjob_operator.view_panels import clock_time, message

BATCH, PHASE, CLAIM, FIGURE = "batch", "phase", "claim", "figure"
"""Kinds of notes that are shown beside the cycles: single batches, phases of the source, proved claims, figures."""

MOST_ROWS = 2000
"""Cycles that the table tells, the newest ones: browsers take long for more."""
TEMPLATES = pathlib.Path(__file__).parent / "templates"
SECTIONS: tuple[tuple[str, plots.Draw, str], ...] = (
    (
        "Batch times",
        plots.batch_times,
        "Each dot is a micro-batch, each cross what the mean batch of a period was predicted to take before it was "
        "measured; small dots of its colour are single batches, predicted from their tasks. Vertical lines are cycles "
        "whose decision was carried out.",
    ),
    (
        "Load per executor",
        plots.loads,
        "Run time of the tasks of an executor's key groups over its task slots, within the statistics period. Of more "
        "than eight executors in the whole run their spread is shown.",
    ),
    ("Load distance", plots.distance, "Largest difference between an unmarked executor's load and the mean."),
    ("Moves", plots.moves, "Key groups that change their executor."),
    ("Executors", plots.executors, "Target leaves out executors that are marked for removal."),
    ("Input", plots.source, "Rows per second over the statistics period, as the agent reports them."),
    ("Collocation", plots.collocation, "Share of the traffic between key groups whose two ends are on one executor."),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A figure with its name, and what it was before."""

    name: str
    value: str
    note: str = ""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a report tells of a run. `slow` is its slowest batch, None where no series tells its parts."""

    timeline: plots.Timeline
    slow: SlowBatch | None
    notes: Notes


def write_report(history_path: str | pathlib.Path, out_path: str | pathlib.Path) -> pathlib.Path:
    """Write the report of a history; raises HistoryError when it cannot be read."""
    run = read_run(history_path)
    out = pathlib.Path(out_path)
    try:
        page = render(run)
    except jinja2.UndefinedError as error:
        raise HistoryError(f"{history_path}: the job's line was written by another version ({error})") from error
    write_whole(out, page)
    return out


def read_run(path: str | pathlib.Path) -> Run:
    """What a history tells; raises HistoryError. One cycle after the other: a day of a large job fits in no memory."""
    notes = notes_of(path)
    slow, cycles, batches = Slowest(), list[CycleDigest](), dict[float, float]()
    for record in cycles_of(path):
        slow.see(record)
        cycles.append(digest(record))
        batches.update(_measured_batches(record))
    noted = [(float(note["ended_at_s"]), float(note["duration_s"])) for note in notes.of_kind(BATCH)]
    timeline = plots.Timeline(
        cycles=tuple(cycles),
        # Single batches where the history notes them, else as far as measurements tell them apart.
        batches=tuple(
            plots.Batch(ended_at_s=at_s, duration_s=duration_s) for at_s, duration_s in noted or sorted(batches.items())
        ),
        phases=tuple(plots.Phase(name=note["name"], at_s=note["at_s"]) for note in notes.of_kind(PHASE)),
        bound_pct=notes.job.get("max_load_distance_pct"),
    )
    return Run(timeline=timeline, slow=slow.batch(), notes=notes)


def _measured_batches(record: CycleRecord) -> Iterator[tuple[float, float]]:
    """Ends and seconds by the cycle's series; where readings hold several batches, their mean. Else its newest one."""
    snapshot = record.snapshot
    if snapshot is None or not snapshot.rates.batches:
        return
    series = snapshot.series
    if series is None:
        yield round(snapshot.rates.last_batch_at_s, 1), snapshot.rates.last_batch_s
        return
    yield from zip(series.ended_at_s.round(1).tolist(), (series.batch_s / series.batches).tolist(), strict=True)


def render(run: Run) -> str:
    """The page."""
    timeline, notes, slow = run.timeline, run.notes, run.slow
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html.j2")
    return page.render(
        job=notes.job,
        name=notes.job.get("name", "job"),
        span=_span(timeline),
        cards=[*_noted_figures(notes), *cards(timeline)],
        claims=notes.of_kind(CLAIM),
        sections=[(title, plots.svg(draw, timeline), caption) for title, draw, caption in _sections(timeline)],
        slow=None if slow is None else account(slow, timeline.since_start(slow.ended_at_s)),
        reasons=Counter(one.reason for one in timeline.cycles).most_common(),
        rows=[_row(one, timeline) for one in timeline.cycles[-MOST_ROWS:]],
        untold=max(0, len(timeline.cycles) - MOST_ROWS),
        shortened_by=notes.shortened_by,
    )


def _sections(timeline: plots.Timeline) -> list[tuple[str, plots.Draw, str]]:
    talks = any(one.collocation_pct is not None for one in timeline.cycles)
    return [section for section in SECTIONS if talks or section[1] is not plots.collocation]


def cards(timeline: plots.Timeline) -> list[Card]:
    """The figures on top of the page."""
    distances = [one.distance_pct for one in timeline.cycles if one.distance_pct is not None]
    durations = [batch.duration_s for batch in timeline.batches]
    moved = sum(one.moves for one in timeline.cycles)
    ready = [one.ready for one in timeline.cycles if one.executors]
    found = []
    if durations:
        p50, p95 = np.percentile(durations, [50, 95])
        found.append(
            Card(
                name="batch time p50 / p95, whole run",
                value=f"{p50:.2f} / {p95:.2f} s",
                note=f"{len(durations)} batches",
            )
        )
    if distances:
        bound = "" if timeline.bound_pct is None else f"bound {timeline.bound_pct:g}"
        found.append(
            Card(
                name="load distance, largest → last", value=f"{max(distances):.1f} → {distances[-1]:.1f} pp", note=bound
            )
        )
    found += list(_predicted(timeline))
    state = sum(one.moved_bytes for one in timeline.cycles)
    found.append(Card(name="moves", value=f"{moved}", note=f"{_size(state)} of state"))
    if ready:
        removed = sum(len(one.removed) for one in timeline.cycles)
        found.append(
            Card(
                name="executors, fewest to most",
                value=f"{min(ready)} to {max(ready)}",
                note=f"{removed} drained and removed",
            )
        )
    rooms = [one.room for one in timeline.cycles if one.room is not None]
    if rooms:
        found.append(_survived(rooms[-1]))
    acted = sum(one.acted for one in timeline.cycles)
    found.append(Card(name="cycles", value=f"{len(timeline.cycles)}", note=f"{acted} acted"))
    return found


def _survived(room: Room) -> Card:
    worst = "" if room.any_ratio is None else f"{room.any_ratio:.1f} x whichever mix of the last batches grows; "
    note = f"{worst}executor {room.full_executor} is full first"
    return Card(name="load survived at the end, if all grows alike", value=f"{room.alike_ratio:.1f} x", note=note)


def _predicted(timeline: plots.Timeline) -> Iterator[Card]:
    """How far predictions were off: of mean batches, and of single ones."""
    errors = [one.batch.error_pct for one in timeline.cycles if one.batch and one.batch.error_pct is not None]
    if errors:
        yield Card(name="predicted batches are off by", value=f"{errors[-1]:.0f} %", note="mean of the last periods")
    single = single_batches(one.batch_times for one in timeline.cycles)
    if single is not None:
        note = f"median of {single.batches} predicted ones, nine of ten by {single.most_pct:.0f} % at most"
        yield Card(name="a single batch is off by", value=f"{single.median_pct:.0f} %", note=note)


def _noted_figures(notes: Notes) -> list[Card]:
    return [Card(name=note["name"], value=note["value"], note=note.get("note", "")) for note in notes.of_kind(FIGURE)]


def _size(size_bytes: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size_bytes < 1024:
            return f"{size_bytes:.0f} {unit}" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1024
    return f"{size_bytes:.1f} GiB"


def _span(timeline: plots.Timeline) -> str:
    day = time.strftime("%Y-%m-%d", time.localtime(timeline.start_s))
    return f"{day}, {clock_time(timeline.start_s)} to {clock_time(timeline.end_s)}"


def _row(one: CycleDigest, timeline: plots.Timeline) -> dict[str, Any]:
    return {
        "at": f"{round(timeline.since_start(one.at_s))}",
        "clock": clock_time(one.at_s),
        "acted": one.acted,
        "reason": one.reason,
        "message": message(one),
        "distance": "" if one.distance_pct is None else f"{one.distance_pct:.1f}",
        "predicted": "" if one.predicted_pct is None else f"{one.predicted_pct:.1f}",
        "moves": one.moves or "",
        "executors": f"{one.ready}" + (f" + {one.marked}" if one.marked else "") if one.executors else "",
        "target": "" if one.target is None else one.target,
        "batch": f"{one.rates.last_batch_s:.2f}" if one.rates else "",
        "predicted_batch": f"{one.batch.predicted_s:.2f}" if one.batch and one.batch.predicted_s else "",
        "planned_batch": f"{one.batch.planned_s:.2f}" if one.batch and one.batch.planned_s else "",
    }
