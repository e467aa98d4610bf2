"""What the tasks of key groups take on an executor of speed 1, and how fast each executor is: from all windows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from streamjob_operator.series import CLOCKS_S
from streamjob_operator.steps.recent import Recent
from streamjob_operator.values import Snapshot
from streamjob_planners.batch.evidence import TaskWindow, begun_anew, with_window
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.capacity import pace
from streamjob_planners.capacity.own_groups import seen, speeds_of
from streamjob_planners.capacity.pace import Pace, Paces
from streamjob_planners.model import BoolArray, FloatArray

HIDING = 2 * pace.WINDOWS
"""Batches of a window that hides no recovery."""
MOST_GROUPS = 5000
"""Key groups that a memory holds; of more than that only the newest window is known."""


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
        return _taken_in(knowledge, snapshot, anew=True)
    paces = _paces(knowledge, snapshot, stirred)
    hidden = _hidden(knowledge.paces, paces.by_executor, _by_newest(knowledge, snapshot, stirred))
    if snapshot.rates.batches <= HIDING:  # a short window tells of a recovery by itself, and two batches may be noise
        hidden = {name: one for name, one in hidden.items() if name not in knowledge.paces}
    if hidden:  # most of the window was before, and says nothing of how it is now
        known = {name: one for name, one in {**paces.by_executor, **hidden}.items() if one != Pace()}
        return dataclasses.replace(knowledge, paces=known, tasks_at_s=snapshot.taken_at_s)
    explained = paces.by_executor != knowledge.paces
    after = dataclasses.replace(knowledge, paces=paces.by_executor)
    if paces.suspected:
        return dataclasses.replace(after, tasks_at_s=snapshot.taken_at_s)
    return _taken_in(after, snapshot, anew=changed and not explained)


def _teaches(snapshot: Snapshot) -> bool:
    return 0 < len(snapshot.group_ids) <= MOST_GROUPS and snapshot.rates.batches > 0 and snapshot.window_s > 0


def _taken_in(knowledge: Knowledge, snapshot: Snapshot, *, anew: bool) -> Knowledge:
    """With the window's tasks, on executors as fast as they are known to be."""
    at_s, known_s = snapshot.taken_at_s, knowledge.tasks_at_s
    since_s = snapshot.window_s if known_s is None else at_s - known_s
    window = _window(snapshot, min(1.0, since_s / snapshot.window_s), knowledge.paces)
    tasks = begun_anew(knowledge.tasks, window) if anew else with_window(knowledge.tasks, window)
    return dataclasses.replace(knowledge, tasks=tasks, tasks_at_s=at_s)


def _paces(knowledge: Knowledge, snapshot: Snapshot, stirred: BoolArray | None) -> Paces:
    """The executors' speeds after this window; as they were where nothing is known to compare it with."""
    window, known = _window(snapshot, 1.0, knowledge.paces), knowledge.tasks
    if known is None or stirred is None or known.groups != window.groups:
        return Paces(by_executor=knowledge.paces)
    return pace.with_window(
        knowledge.paces, tuple(one.executor_id for one in snapshot.executors), seen(known, window, ~stirred)
    )


def _by_newest(knowledge: Knowledge, snapshot: Snapshot, stirred: BoolArray | None) -> Mapping[str, Pace] | None:
    """The executors' paces by the newest batches alone; None where there are too few that are new."""
    series, at_s = snapshot.series, knowledge.tasks_at_s
    if series is None or at_s is None or series.ended_at_s.size <= pace.WINDOWS:
        return None
    if series.ended_at_s[-pace.WINDOWS] <= at_s:  # taken in already
        return None
    for row in range(series.ended_at_s.size - pace.WINDOWS, series.ended_at_s.size):
        batches = int(series.batches[row])
        rates = dataclasses.replace(snapshot.rates, batches=batches)
        paces = _paces(knowledge, dataclasses.replace(snapshot, busy_s=series.busy_s[row], rates=rates), stirred)
        knowledge = dataclasses.replace(knowledge, paces=paces.by_executor)
    return knowledge.paces


def _hidden(
    before: Mapping[str, Pace], window: Mapping[str, Pace], newest: Mapping[str, Pace] | None
) -> dict[str, Pace]:
    """Executors that the newest batches show to have become slow, or faster again, and the whole window hides."""
    if newest is None:
        return {}

    def speed(paces: Mapping[str, Pace], name: str) -> float:
        return paces.get(name, Pace()).speed

    slow = [name for name in newest if speed(newest, name) * pace.LEAST_FACTOR <= 1.0 == speed(window, name)]
    well = [
        name
        for name in before
        if speed(before, name) * pace.LEAST_FACTOR <= min(1.0, speed(newest, name))
        and speed(window, name) * pace.LEAST_FACTOR <= speed(newest, name)
    ]
    return {name: newest.get(name, Pace()) for name in (*slow, *well)}


def _window(snapshot: Snapshot, new_ratio: float, paces: Mapping[str, Pace]) -> TaskWindow:
    names = {one.executor_id: at for at, one in enumerate(snapshot.executors)}
    owner = np.array([names.get(one or "", -1) for one in snapshot.owners], dtype=np.int64)
    speed = np.append(speeds_of(tuple(names), paces), 1.0)[owner]
    return TaskWindow(
        operator=np.array([one.operator for one in snapshot.group_ids], dtype=np.int64),
        partition=np.array([one.partition for one in snapshot.group_ids], dtype=np.int64),
        task_s=np.maximum(snapshot.busy_s, 0.0) / snapshot.rates.batches * speed,
        owner=owner,
        batches=snapshot.rates.batches,
        new_ratio=new_ratio,
        spread_s={
            stage.operator: stage.spread_s
            for stage in snapshot.stages
            if stage.operator is not None and stage.spread_s is not None
        },
    )
