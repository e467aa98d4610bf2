"""One stage: each task on the executor it is bound to, in the order of partitions, on the slot that is free first."""

from __future__ import annotations

import heapq

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray


def finish_s(task_s: FloatArray, owner: IntArray, slots: IntArray, speed: FloatArray | None = None) -> FloatArray:
    """When each node has finished its tasks, seconds from the stage's start, (n_nodes,).

    `task_s` and `owner`: (n_tasks,), in the order in which a node starts them; `slots`, `speed`: (n_nodes,), speed 1.0
    where left out. A node of c slots ends between max(longest task, sum / c) and the sum of both.
    """
    done = np.bincount(owner, task_s, slots.size).astype(np.float64)  # right for nodes of one slot
    for node in np.flatnonzero((slots > 1) & (np.bincount(owner, minlength=slots.size) > 0)):
        done[node] = list_schedule(task_s[owner == node].tolist(), int(slots[node]))
    return done if speed is None else done / speed


def list_schedule(tasks_s: list[float], slots: int) -> float:
    """The end of the last task when each starts, in this order, on the slot that is free first; seconds."""
    free_at_s = [0.0] * min(slots, max(len(tasks_s), 1))
    for task_s in tasks_s:
        heapq.heapreplace(free_at_s, free_at_s[0] + task_s)
    return max(free_at_s)


def longest_first(tasks_s: FloatArray, slots: int) -> IntArray:
    """The slot of each task, (n_tasks,), 0 to slots - 1: the longest task first, each on the slot with least to do.

    Within 4/3 of the best for slots of equal speed (Graham, 1969).
    """
    slot_of = np.zeros(tasks_s.size, dtype=np.int64)
    heap = [(0.0, slot) for slot in range(min(slots, tasks_s.size))]
    for task in np.argsort(-tasks_s, kind="stable").tolist():
        busy_s, slot = heap[0]
        slot_of[task] = slot
        heapq.heapreplace(heap, (busy_s + float(tasks_s[task]), slot))
    return slot_of
