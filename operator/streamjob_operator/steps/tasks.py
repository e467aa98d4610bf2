"""What the tasks of key groups take, from this window and from those before it."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.values import Snapshot
from streamjob_planners.batch.evidence import TaskWindow, with_window
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.model import FloatArray

MOST_GROUPS = 5000
"""Key groups that a memory holds; of more than that only the newest window is known."""


def tasks_of(snapshot: Snapshot, knowledge: Knowledge) -> tuple[FloatArray, FloatArray]:
    """Mean seconds of each group's task in a batch like this window's, and their standard errors, (n_groups,).

    The window must hold a batch.
    """
    window = _window(snapshot, 1.0)
    known = knowledge.tasks
    if known is None or known.groups != window.groups:
        known = with_window(None, window)
    return known.tasks(window.operator, window.task_s)


def with_tasks(knowledge: Knowledge, snapshot: Snapshot) -> Knowledge:
    """With what one more window teaches; each is taken in once, and of one that overlaps only the new part counts."""
    at_s = snapshot.taken_at_s
    if not 0 < len(snapshot.group_ids) <= MOST_GROUPS or snapshot.rates.batches == 0 or snapshot.window_s <= 0:
        return knowledge
    if knowledge.tasks_at_s is not None and at_s <= knowledge.tasks_at_s:
        return knowledge
    since_s = snapshot.window_s if knowledge.tasks_at_s is None else at_s - knowledge.tasks_at_s
    window = _window(snapshot, min(1.0, since_s / snapshot.window_s))
    return dataclasses.replace(knowledge, tasks=with_window(knowledge.tasks, window), tasks_at_s=at_s)


def _window(snapshot: Snapshot, new_ratio: float) -> TaskWindow:
    names = {one.executor_id: at for at, one in enumerate(snapshot.executors)}
    return TaskWindow(
        operator=np.array([one.operator for one in snapshot.group_ids], dtype=np.int64),
        partition=np.array([one.partition for one in snapshot.group_ids], dtype=np.int64),
        task_s=np.maximum(snapshot.busy_s, 0.0) / snapshot.rates.batches,
        owner=np.array([names.get(one or "", -1) for one in snapshot.owners], dtype=np.int64),
        batches=snapshot.rates.batches,
        new_ratio=new_ratio,
        spread_s={
            stage.operator: stage.spread_s
            for stage in snapshot.stages
            if stage.operator is not None and stage.spread_s is not None
        },
    )
