"""One stage: each key group's task runs on its owner, in the order of partitions, on the slot that is free first."""

from __future__ import annotations

import heapq

import numpy as np

from streamjob_planners.model import FloatArray, IntArray


def finish_s(task_s: FloatArray, owner: IntArray, slots: IntArray) -> FloatArray:
    """When each executor has finished its tasks, seconds from the stage's start, (n_executors,).

    `task_s` and `owner`: (n_tasks,); `slots`: (n_executors,), only those of owners matter.
    """
    done = np.bincount(owner, task_s, slots.size).astype(np.float64)  # right for executors of one slot
    for executor in np.flatnonzero((slots > 1) & (np.bincount(owner, minlength=slots.size) > 0)):
        done[executor] = _list_schedule(task_s[owner == executor].tolist(), int(slots[executor]))
    return done


def _list_schedule(tasks_s: list[float], slots: int) -> float:
    free_at_s = [0.0] * slots
    for task_s in tasks_s:
        heapq.heapreplace(free_at_s, free_at_s[0] + task_s)
    return max(free_at_s)
