"""What one run is worth: how long warm batches took, how many rows a second, what was spent and sent for them."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from benchmarks.event_log import Batch, Life, Task, Told, moves
from benchmarks.jobs_on_spark.machine import Spent, between

MILLION = 1e6


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """When all queries had warm batches at once."""

    from_s: float
    until_s: float

    @property
    def seconds(self) -> float:
        """How long."""
        return self.until_s - self.from_s


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Evenness:
    """Of warm batches, as shares of a batch's seconds, means: what passes while stages with state run, by how much that
    would be shorter if the busiest executor had no more in any batch than the others, or than its longest task, and if
    key groups lay as is even by their means over all these batches. The first wants a placement for each batch, known
    before it runs; the second one that stays, and may be less than nothing."""

    stateful_ratio: float
    reachable_ratio: float
    staying_ratio: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Warm batches of all queries.

    Attributes:
        batch_s: seconds of each batch that brought rows.
        rate_rps: rows a second that the slowest query took in, with no wait between batches.
        cpu_s: per million rows, of the driver, executors, their Python, and StreamJob's controller.
        first_cpu_s: per million rows, of the process that began these: StreamJob's controller, or the job's script.
        task_cpu_s: per million rows, of executors' threads that ran tasks.
        remote_mb, local_mb: per million rows, shuffled from other executors and from the same one.
        executor_h: per million rows, hours for which executors were there.
        moves: key groups that ran elsewhere than in the batch before.
        moved_rows: rows of state that went with them, if all key groups of a query have as many.
        early_moves: moves in the batches before.
        others_ratio: share of the machine's cores that others had meanwhile, 0 to 1.
    """

    batch_s: list[float]
    rate_rps: float
    cpu_s: float
    first_cpu_s: float
    task_cpu_s: float
    remote_mb: float
    local_mb: float
    executor_h: float
    moves: int
    moved_rows: float
    early_moves: int
    stateful_ratio: float
    reachable_ratio: float
    staying_ratio: float
    others_ratio: float


def figures(told: Told, skip: int, seen: list[Spent], cores: int) -> Figures:
    """Of a run whose first `skip` batches of each query are not measured."""
    by_query = _warm(told.batches, skip)
    span = Span(
        from_s=max(some[0].began_s for some in by_query.values()),
        until_s=min(some[-1].ended_s for some in by_query.values()),
    )
    rate_rps = min(map(_rate_rps, by_query.values()))
    rows = rate_rps * span.seconds
    measured = {(one.query, one.number) for some in by_query.values() for one in some}
    tasks = [one for one in told.tasks if (one.query, one.batch) in measured]
    spent = between(seen, span.from_s, span.until_s)
    even = evenness(by_query, tasks)
    moved = list(moves(told.tasks))
    late = [one for one in moved if one in measured]
    early = [one for one in moved if one[1] < by_query[one[0]][0].number]
    return Figures(
        batch_s=[one.took_s for some in by_query.values() for one in some if one.rows],
        rate_rps=rate_rps,
        cpu_s=spent.ours_s / rows * MILLION,
        first_cpu_s=spent.alone_s / rows * MILLION,
        task_cpu_s=_per_million(by_query, tasks, "cpu_s"),
        remote_mb=_per_million(by_query, tasks, "remote_bytes") / 1e6,
        local_mb=_per_million(by_query, tasks, "local_bytes") / 1e6,
        executor_h=_present_s(told.executors, span) / 3600.0 / rows * MILLION,
        moves=len(late),
        moved_rows=sum(_group_rows(told, *one) for one in late),
        early_moves=len(early),
        stateful_ratio=even.stateful_ratio,
        reachable_ratio=even.reachable_ratio,
        staying_ratio=even.staying_ratio,
        others_ratio=spent.others_s / (cores * span.seconds),
    )


def evenness(by_query: dict[str, list[Batch]], tasks: Iterable[Task]) -> Evenness:
    """By the tasks of each batch's stages with state, one slot an executor."""
    stages: dict[tuple[str, int, int], list[Task]] = collections.defaultdict(list)
    for task in tasks:
        if task.stage is not None:
            stages[task.query, task.batch, task.stage].append(task)
    executors = max(len({one.executor for some in stages.values() for one in some}), 1)
    staying = _even(stages, executors)
    whole_s = sum(one.took_s for some in by_query.values() for one in some)
    took_s = sum(_busiest_s(some, lambda one: one.executor) for some in stages.values())
    least_s = sum(_least_s(some, executors) for some in stages.values())
    stayed_s = sum(_busiest_s(some, lambda one: staying[_group(one)]) for some in stages.values())
    return Evenness(
        stateful_ratio=took_s / whole_s,
        reachable_ratio=(took_s - least_s) / whole_s,
        staying_ratio=(took_s - stayed_s) / whole_s,
    )


Group = tuple[str, int | None, int]
"""A key group: its query, stage and partition."""


def _group(task: Task) -> Group:
    return task.query, task.stage, task.partition


def _even(stages: Mapping[tuple[str, int, int], Sequence[Task]], executors: int) -> dict[Group, int]:
    """An executor for each key group, by the seconds of all batches: the longest first, where its stage has least."""
    took_s: dict[Group, float] = collections.defaultdict(float)
    for task in (one for some in stages.values() for one in some):
        took_s[_group(task)] += task.took_s
    given: dict[Group, int] = {}
    busy_s: dict[tuple[str, int | None], list[float]] = collections.defaultdict(lambda: [0.0] * executors)
    for group in sorted(took_s, key=lambda one: (-took_s[one], one)):
        of_stage = busy_s[group[:2]]
        given[group] = of_stage.index(min(of_stage))
        of_stage[given[group]] += took_s[group]
    return given


def _least_s(tasks: Sequence[Task], executors: int) -> float:
    """Seconds of an executor that had its share, or of the longest task."""
    return max(sum(one.took_s for one in tasks) / executors, *(one.took_s for one in tasks))


def _busiest_s(tasks: Sequence[Task], owner: Callable[[Task], Hashable]) -> float:
    busy_s: dict[Hashable, float] = collections.defaultdict(float)
    for task in tasks:
        busy_s[owner(task)] += task.took_s
    return max(busy_s.values())


def _warm(batches: Iterable[Batch], skip: int) -> dict[str, list[Batch]]:
    """From the first measured batch of each query to the last one with rows; ValueError where there is none."""
    found: dict[str, list[Batch]] = collections.defaultdict(list)
    for one in sorted(batches, key=lambda batch: batch.number):
        found[one.query].append(one)
    warm = {query: _to_last(some[skip:]) for query, some in found.items()}
    if not warm or not all(warm.values()):
        raise ValueError(f"batches: {[len(some) for some in found.values()]} found, more than {skip} are needed.")
    return warm


def _to_last(batches: list[Batch]) -> list[Batch]:
    with_rows = [at for at, one in enumerate(batches) if one.rows]
    return batches[: with_rows[-1] + 1] if with_rows else []


def _rate_rps(batches: Sequence[Batch]) -> float:
    return sum(one.rows for one in batches) / (batches[-1].ended_s - batches[0].began_s)


def _per_million(by_query: dict[str, list[Batch]], tasks: Sequence[Task], name: str) -> float:
    """What the tasks of each query's batches add up to, per million of its rows, all queries together."""
    total = 0.0
    for query, batches in by_query.items():
        spent = sum(getattr(one, name) for one in tasks if one.query == query)
        total += spent / sum(one.rows for one in batches) * MILLION
    return total


def _present_s(lives: Iterable[Life], span: Span) -> float:
    ends = ((one.from_s, span.until_s if one.until_s is None else one.until_s) for one in lives)
    return sum(max(0.0, min(until_s, span.until_s) - max(from_s, span.from_s)) for from_s, until_s in ends)


def _group_rows(told: Told, query: str, batch: int) -> float:
    """Rows of state of a key group in the batch."""
    groups = {(one.stage, one.partition) for one in told.tasks if one.query == query and one.stage is not None}
    state = [one.state_rows for one in told.batches if (one.query, one.number) == (query, batch)]
    return sum(state) / max(1, len(groups))
