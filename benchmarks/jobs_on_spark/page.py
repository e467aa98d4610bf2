"""docs/workloads-benefit.md, from the figures of every job and system."""

from __future__ import annotations

import datetime
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.jobs_on_spark import compared, shapes, systems
from benchmarks.jobs_on_spark.compared import Figure, Row
from benchmarks.jobs_on_spark.systems import VANILLA
from jobs.registry import JOBS

HEAD = """# What StreamJob is worth to the workloads

The jobs of [workloads.md](workloads.md) on real Spark, each by its own script, as plain Spark with several settings and
under StreamJob (`streamjob run`). A run works off a backlog that lies there before it begins, one file of each stream a
batch, with no pause between batches: the rows that it takes in a second are the highest rate at which it does not
fall behind. They are the input's own, however often a query reads its stream and whatever a filter keeps back in the
scan. The first batches of a run, in which JVMs compile and StreamJob settles, are not measured. The answer of every run
is checked, row for row. Rounds alternate; a ratio is that of the same round, behind ± is half of what rounds
differ by. `make bench-jobs` runs all of it in pieces that are kept and writes this page, last on {day}.

All systems get the same number of key groups, RocksDB with changelog, the quick compiler in all JVMs, files in memory,
all executors before the first batch, and shuffles over sockets. CPU seconds are those of all processes: driver,
executors, their Python, StreamJob's controller, which is told by itself for the newest runs; its agent is in the
driver's. "Stages with state" is the share of a batch that passes while they run,
"to be won" the share by which batches would be shorter if the busiest executor had no more than the others in any of
them (or than its longest task): more than that no placement can give. "By one placement" is what of it key groups that
lie even by their seconds over all these batches would win, without one move; it is known for the newest runs alone, and
less than zero where loads change so much that today's placement is better. All are of the row's own system, so what
StreamJob left; of the lists of verdicts they are plain Spark's. StreamJob's statistics period is 10 s.

A job is *faster* or *slower* only where all rounds are, by more than {least:.0f} percent and by more than plain Spark
differs from itself.
"""
VERDICTS = ("verdict", "job", "system", "p50 over plain Spark's", "of a batch to be won", "moves while measured")
COLUMNS = (
    "job",
    "rows a batch",
    "system",
    "rounds, exact",
    "p50 / p95 / p99 s",
    "p50 over plain Spark's",
    "p95",
    "rows/s",
    "over plain Spark's",
    "verdict",
    "stages with state",
    "to be won",
    "by one placement",
)
COSTS = (
    "job",
    "system",
    "CPU s a million rows",
    "of it in tasks",
    "in StreamJob's controller",
    "MB fetched remotely a million rows",
    "from the same executor",
    "executor-hours a million rows",
    "moves before, while measured",
    "state moved, rows",
    "others' share of the cores",
    "fixed loop, s",
)


def page(rows: Sequence[Row], day: datetime.date, picture: pathlib.Path) -> str:
    """The page as Markdown; `picture` as seen from it."""
    parts = [HEAD.format(day=day.isoformat(), least=100 * compared.LEAST_NOISE)]
    parts.append("\n".join(_table(("system", "what it is"), ((f"`{one.name}`", one.about) for one in _used(rows)))))
    for shape in shapes.SHAPES:
        mine = [one for one in rows if one.shape == shape.name]
        if mine:
            parts += _of_shape(shape, mine)
    parts.append(_not_run(rows))
    parts.append(f"![Batch seconds over plain Spark's]({picture})")
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _not_run(rows: Sequence[Row]) -> str:
    """Jobs of which nothing is known in a shape, and shapes and systems of which nothing is known at all."""
    there = {(one.shape, one.job) for one in rows}
    told = [
        f"on `{shape.name}` {_names(one.name for one in JOBS if (shape.name, one.name) not in there)}"
        for shape in shapes.SHAPES
        if any(one.shape == shape.name for one in rows)
    ]
    whole = [f"`{one.name}` ({one.about})" for one in shapes.SHAPES if all(shape != one.name for shape, _ in there)]
    systems_ = _names(one.name for one in systems.SYSTEMS if one not in _used(rows))
    parts = (*told, f"shapes: {', '.join(whole) or 'none'}", f"systems: {systems_}")
    return "## Not run yet\n\n" + "\n".join(f"- {one}" for one in parts)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{one}`" for one in names) or "none"


def _of_shape(shape: shapes.Shape, rows: Sequence[Row]) -> Iterator[str]:
    plain = {one.job: one for one in rows if one.system == VANILLA}
    yield f"## {shape.about[0].upper()}{shape.about[1:]}"
    yield "\n".join(_table(VERDICTS, told(rows, plain)))
    yield _amounts(rows)
    yield "Batches and rates:"
    yield "\n".join(_table(COLUMNS, (_speed(one, plain) for one in rows)))
    yield "What was spent, sent and moved, and what else the machine did:"
    yield "\n".join(_table(COSTS, map(_cost, rows)))


def _amounts(rows: Sequence[Row]) -> str:
    """Of batches and key groups, of each way in which jobs were run."""
    found = {
        f"{one.amounts.batches - one.amounts.skip} batches with rows were measured after {one.amounts.skip}, with "
        f"{one.amounts.key_groups} key groups of each operator with state"
        for one in rows
    }
    return "; ".join(sorted(found)) + "."


def told(rows: Sequence[Row], plain: Mapping[str, Row]) -> Iterator[tuple[str, ...]]:
    """What was won and lost by StreamJob, and what could be: cells of a job each, the best first within a verdict."""
    ours = [one for one in rows if systems.named(one.system).ours is not None and one.job in plain]
    for what in compared.VERDICTS:
        found = [one for one in ours if compared.verdict(one, plain[one.job]) == what]
        for one in sorted(found, key=lambda one: _p50(one).mean):
            reachable = f"{100 * plain[one.job].reachable_ratio.mean:.0f} %"
            yield what, f"`{one.job}`", one.system, told_figure(_p50(one)), reachable, f"{one.moves.mean:.0f}"


def _p50(row: Row) -> Figure:
    assert row.ratios is not None
    return row.ratios["p50"]


def _speed(row: Row, plain: Mapping[str, Row]) -> tuple[str, ...]:
    ratios = row.ratios or {}
    shares = (row.stateful_ratio, row.reachable_ratio, row.staying_ratio)
    return (
        f"`{row.job}`",
        f"{row.amounts.rows:,}",
        row.system,
        f"{row.rounds}, {'all' if row.exact == row.rounds else row.exact}",
        f"{row.p50_s:.2f} / {row.p95_s:.2f} / {row.p99_s:.2f}",
        *(told_figure(ratios[name]) if name in ratios else "" for name in ("p50", "p95")),
        f"{row.rate_rps.mean:,.0f}",
        told_figure(ratios["rate_rps"]) if "rate_rps" in ratios else "",
        compared.verdict(row, plain.get(row.job)),
        *("" if share is None else f"{100 * share.mean:.0f} %" for share in shares),
    )


def _cost(row: Row) -> tuple[str, ...]:
    spent = row.spent
    return (
        f"`{row.job}`",
        row.system,
        told_figure(spent["cpu_s"], 0),
        told_figure(spent["task_cpu_s"], 0),
        "" if row.controller_cpu_s is None else told_figure(row.controller_cpu_s, 1),
        told_figure(spent["remote_mb"], 1),
        told_figure(spent["local_mb"], 1),
        told_figure(spent["executor_h"], 3),
        f"{row.early_moves.mean:.0f}, {row.moves.mean:.0f}",
        f"{row.moved_rows.mean:,.0f}",
        f"{100 * row.others_ratio.mean:.0f} %",
        told_figure(row.loop_s),
    )


def told_figure(value: Figure, digits: int = 2) -> str:
    """Mean and half the spread; one trial has no spread."""
    half = f" (±{value.spread / 2:.{digits}f})" if value.trials > 1 else ""
    return f"{value.mean:,.{digits}f}{half}"


def _used(rows: Sequence[Row]) -> list[systems.System]:
    there = {one.system for one in rows}
    return [one for one in systems.SYSTEMS if one.name in there]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
