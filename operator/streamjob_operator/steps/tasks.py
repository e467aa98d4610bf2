"""What the tasks of key groups take on an executor of speed 1, and how fast each executor is: from all windows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from streamjob_operator.series import CLOCKS_S, BatchSeries
from streamjob_operator.steps.recent import Recent
from streamjob_operator.steps.turned import at_speed_1, comparable, seen_longer, turned_and_in_doubt
from streamjob_operator.values import Snapshot
from streamjob_planners.batch.evidence import TaskWindow, begun_anew, with_rows, with_window
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.capacity import pace
from streamjob_planners.capacity.own_groups import seen, speeds_of
from streamjob_planners.capacity.pace import Pace, Paces
from streamjob_planners.model import BoolArray, FloatArray, IntArray

MOST_GROUPS = 5000
"""Key groups that a memory holds; of more than that only the newest window is known."""

SAME_SIZE = 2.0
"""Times the rows of the smallest batch of a window up to which the largest one's tasks vary by chance."""


def tasks_of(snapshot: Snapshot, knowledge: Knowledge) -> tuple[FloatArray, FloatArray]:
    """Mean seconds of each group's task in a batch like this window's, and their standard errors, (n_groups,).

    On an executor of speed 1. The window must hold a batch.
    """
    window = _window(snapshot, 1.0, knowledge.paces)
    known = knowledge.tasks
    if known is None or known.groups != window.groups:
        known = with_window(None, window)
    return known.tasks(window.operator, window.task_s)


def with_tasks(knowledge: Knowledge, newest: Recent, stirred: BoolArray | None) -> Knowledge:
    """With what one more window teaches; each is taken in once, and of one that overlaps only the new part counts.

    `newest`: the part of the window since key groups share the work as they do; `stirred`: groups that moved within it,
    (n_groups,), None when nobody knows; they say nothing of speeds. Where the change is new and no executor's speed
    explains it, what was known of tasks holds no longer.
    """
    snapshot, known_s = newest.snapshot, knowledge.tasks_at_s
    if not _teaches(snapshot) or (known_s is not None and snapshot.taken_at_s <= known_s):
        return knowledge
    changed = newest.changed_at_s is not None and (known_s is None or newest.changed_at_s >= known_s - CLOCKS_S)
    if changed and newest.shown_alone:  # nothing is left to tell speeds by
        return _taken_in(_alike_since(knowledge, snapshot), snapshot, anew=True)
    if snapshot.series is not None:
        return _by_rows(knowledge, snapshot, snapshot.series, changed=changed)
    paces = _paces(knowledge, snapshot, stirred)
    explained = paces.by_executor != knowledge.paces
    after = dataclasses.replace(knowledge, paces=paces.by_executor)
    if paces.suspected:
        return dataclasses.replace(after, tasks_at_s=snapshot.taken_at_s)
    return _taken_in(after, snapshot, anew=changed and not explained)


def _by_rows(knowledge: Knowledge, snapshot: Snapshot, series: BatchSeries, *, changed: bool) -> Knowledge:
    """Where batches are told one by one, they say who turned."""
    since = comparable(series, knowledge.alike_since_s, knowledge.paces)
    slots = {one.executor_id: one.cores for one in snapshot.executors}
    found, in_doubt = turned_and_in_doubt(since, snapshot.owners, knowledge.paces, slots)
    if found:
        known = dataclasses.replace(knowledge, paces={**knowledge.paces, **found})
        return _taken_in(known, _whole(snapshot, since), anew=True)
    if in_doubt:
        return dataclasses.replace(knowledge, tasks_at_s=snapshot.taken_at_s)
    followed = seen_longer(series.since(knowledge.alike_since_s), snapshot.owners, knowledge.paces)
    after = dataclasses.replace(knowledge, paces=followed)
    return _taken_in(_alike_since(after, snapshot) if changed else after, snapshot, anew=changed)


def _alike_since(knowledge: Knowledge, snapshot: Snapshot) -> Knowledge:
    """Rows from before this window say nothing of what key groups usually take."""
    return dataclasses.replace(knowledge, alike_since_s=snapshot.taken_at_s - snapshot.window_s)


def _whole(snapshot: Snapshot, series: BatchSeries) -> Snapshot:
    """All rows of the series as one window."""
    rates = dataclasses.replace(snapshot.rates, batches=int(series.batches.sum()))
    seconds = {"busy_s": series.busy_s.sum(axis=0), "window_s": float(series.row_s.sum())}
    return dataclasses.replace(snapshot, **seconds, rates=rates, series=series)


def _teaches(snapshot: Snapshot) -> bool:
    return 0 < len(snapshot.group_ids) <= MOST_GROUPS and snapshot.rates.batches > 0 and snapshot.window_s > 0


def _taken_in(knowledge: Knowledge, snapshot: Snapshot, *, anew: bool) -> Knowledge:
    """With the window's tasks, on executors as fast as they are known to be."""
    at_s, known_s = snapshot.taken_at_s, knowledge.tasks_at_s
    since_s = snapshot.window_s if known_s is None else at_s - known_s
    window = _window(snapshot, min(1.0, since_s / snapshot.window_s), knowledge.paces)
    tasks = begun_anew(knowledge.tasks, window) if anew else with_window(knowledge.tasks, window)
    series = snapshot.series
    if series is not None:
        even_s = at_speed_1(series, snapshot.owners, knowledge.paces) / series.batches[:, None]
        tasks = with_rows(tasks, window.operator, even_s, series.batches)
    return dataclasses.replace(knowledge, tasks=tasks, tasks_at_s=at_s)


def _paces(knowledge: Knowledge, snapshot: Snapshot, stirred: BoolArray | None) -> Paces:
    """The executors' speeds after this window; as they were where nothing is known to compare it with."""
    window, known = _window(snapshot, 1.0, knowledge.paces), knowledge.tasks
    if known is None or stirred is None or known.groups != window.groups:
        return Paces(by_executor=knowledge.paces)
    return pace.with_window(
        knowledge.paces, tuple(one.executor_id for one in snapshot.executors), seen(known, window, ~stirred)
    )


def _window(snapshot: Snapshot, new_ratio: float, paces: Mapping[str, Pace]) -> TaskWindow:
    return TaskWindow(
        operator=np.array([one.operator for one in snapshot.group_ids], dtype=np.int64),
        partition=np.array([one.partition for one in snapshot.group_ids], dtype=np.int64),
        task_s=_at_speed_1(snapshot, paces) / snapshot.rates.batches,
        owner=_owner(snapshot),
        batches=snapshot.rates.batches,
        new_ratio=new_ratio,
        spread_s={} if _differ(snapshot) else _spread_s(snapshot),
    )


def _spread_s(snapshot: Snapshot) -> dict[int, float]:
    """Standard deviation of a task from batch to batch, by operator, as the agent's sums of squares have it."""
    told = ((stage.operator, stage.spread_s) for stage in snapshot.stages)
    return {operator: spread_s for operator, spread_s in told if operator is not None and spread_s is not None}


def _differ(snapshot: Snapshot) -> bool:
    """Whether the window's batches differ so much in size that tasks vary by that, as when a backlog is worked off."""
    series = snapshot.series
    if series is None:
        return False
    rows = series.within(snapshot.taken_at_s - snapshot.window_s)
    size = series.input_rows[rows] / series.batches[rows]
    return bool(size.size) and float(size.max()) > SAME_SIZE * float(size.min())


def _owner(snapshot: Snapshot) -> IntArray:
    """Index of each key group's executor, -1 where unknown, (n_groups,)."""
    names = {one.executor_id: at for at, one in enumerate(snapshot.executors)}
    return np.array([names.get(one or "", -1) for one in snapshot.owners], dtype=np.int64)


def _at_speed_1(snapshot: Snapshot, paces: Mapping[str, Pace]) -> FloatArray:
    """Busy seconds of the window as they would be had every executor the speed of most, (n_groups,)."""
    busy_s, series = np.maximum(snapshot.busy_s, 0.0), snapshot.series
    speed = np.append(speeds_of(tuple(one.executor_id for one in snapshot.executors), paces), 1.0)
    today: FloatArray = speed[_owner(snapshot)]
    if series is None or not paces:
        return np.asarray(busy_s * today)
    rows = series.within(snapshot.taken_at_s - snapshot.window_s)
    took_s = series.busy_s[rows].sum(axis=0)
    even_s = at_speed_1(series, snapshot.owners, paces)[rows].sum(axis=0)
    ratio: FloatArray = np.divide(even_s, took_s, out=today, where=took_s > 0)
    return np.asarray(busy_s * ratio)
