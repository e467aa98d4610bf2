"""What the tasks of key groups take on an executor of speed 1, and how fast each executor is: from all windows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from streamjob_operator.values import Snapshot
from streamjob_planners.batch.evidence import TaskWindow, begun_anew, with_window
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.capacity import pace
from streamjob_planners.capacity.own_groups import seen, speeds_of
from streamjob_planners.capacity.pace import Pace, Paces
from streamjob_planners.model import BoolArray, FloatArray

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


def with_tasks(
    knowledge: Knowledge,
    snapshot: Snapshot,
    stirred: BoolArray | None,
    *,
    changed: bool = False,
    shown_alone: bool = False,
) -> Knowledge:
    """With what one more window teaches; each is taken in once, and of one that overlaps only the new part counts.

    `stirred`: groups that moved within the window, (n_groups,), None when nobody knows; they say nothing of speeds.
    `changed`: key groups share the work in another way than before; where no executor's speed explains that, what was
    known of their tasks holds no longer. `shown_alone`: none does, since work is gone from some and has come to others;
    then nothing is left to tell speeds by.
    """
    at_s = snapshot.taken_at_s
    if not 0 < len(snapshot.group_ids) <= MOST_GROUPS or snapshot.rates.batches == 0 or snapshot.window_s <= 0:
        return knowledge
    if knowledge.tasks_at_s is not None and at_s <= knowledge.tasks_at_s:
        return knowledge
    since_s = snapshot.window_s if knowledge.tasks_at_s is None else at_s - knowledge.tasks_at_s
    new_ratio = min(1.0, since_s / snapshot.window_s)
    if changed and shown_alone:
        return _anew(dataclasses.replace(knowledge, tasks_at_s=at_s), snapshot, new_ratio)
    paces = _paces(knowledge, snapshot, stirred)
    slowed = _slowed(knowledge, snapshot, stirred)
    if any(
        paces.by_executor.get(name, Pace()).speed == 1.0 for name in slowed
    ):  # most of the window was before, and says nothing of how it is now
        return dataclasses.replace(knowledge, paces={**paces.by_executor, **slowed}, tasks_at_s=at_s)
    explained = paces.by_executor != knowledge.paces
    knowledge = dataclasses.replace(knowledge, paces=paces.by_executor, tasks_at_s=at_s)
    if paces.suspected:
        return knowledge
    if changed and not explained:
        return _anew(knowledge, snapshot, new_ratio)
    window = _window(snapshot, new_ratio, knowledge.paces)
    return dataclasses.replace(knowledge, tasks=with_window(knowledge.tasks, window))


def _anew(knowledge: Knowledge, snapshot: Snapshot, new_ratio: float) -> Knowledge:
    window = _window(snapshot, new_ratio, knowledge.paces)
    return dataclasses.replace(knowledge, tasks=begun_anew(knowledge.tasks, window))


def _paces(knowledge: Knowledge, snapshot: Snapshot, stirred: BoolArray | None) -> Paces:
    """The executors' speeds after this window; as they were where nothing is known to compare it with."""
    window, known = _window(snapshot, 1.0, knowledge.paces), knowledge.tasks
    if known is None or stirred is None or known.groups != window.groups:
        return Paces(by_executor=knowledge.paces)
    return pace.with_window(
        knowledge.paces, tuple(one.executor_id for one in snapshot.executors), seen(known, window, ~stirred)
    )


def _slowed(knowledge: Knowledge, snapshot: Snapshot, stirred: BoolArray | None) -> dict[str, Pace]:
    """Executors that the newest batches alone show to have become slow, which the whole window hides."""
    series, at_s = snapshot.series, knowledge.tasks_at_s
    if series is None or at_s is None or series.ended_at_s.size <= pace.WINDOWS:
        return {}
    if series.ended_at_s[-pace.WINDOWS] <= at_s:  # taken in already
        return {}
    for row in range(series.ended_at_s.size - pace.WINDOWS, series.ended_at_s.size):
        batches = int(series.batches[row])
        rates = dataclasses.replace(snapshot.rates, batches=batches)
        paces = _paces(knowledge, dataclasses.replace(snapshot, busy_s=series.busy_s[row], rates=rates), stirred)
        knowledge = dataclasses.replace(knowledge, paces=paces.by_executor)
    return {name: one for name, one in knowledge.paces.items() if one.speed * pace.LEAST_FACTOR <= 1.0}


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
