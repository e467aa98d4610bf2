"""One stage: each task on the executor it is bound to, in the order of partitions, on the slot that is free first."""

from __future__ import annotations

import heapq

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray

STEP = 150
"""Tasks that are scheduled one by one in the time of one step of many."""
MOST_CELLS = 4_000_000
"""Batches times nodes times slots that are scheduled at once: 32 MB, and as much again for what is made of them,
whatever a job tells of its slots."""


def finish_s(task_s: FloatArray, owner: IntArray, slots: IntArray, speed: FloatArray | None = None) -> FloatArray:
    """When each node has finished its tasks, seconds from the stage's start, (n_nodes,).

    `task_s` and `owner`: (n_tasks,), in the order in which a node starts them; `slots`, `speed`: (n_nodes,), speed 1.0
    where left out. A node of c slots ends between max(longest task, sum / c) and the sum of both.
    """
    if (slots > 1).any():
        done = _list_schedules(task_s, owner, slots)
    else:
        done = np.bincount(owner, task_s, slots.size).astype(np.float64)
    return done if speed is None else done / speed


def _list_schedules(task_s: FloatArray, owner: IntArray, slots: IntArray) -> FloatArray:
    """:func:`list_schedule` of all nodes, (n_nodes,), in one pass over the tasks."""
    used = np.minimum(slots, np.bincount(owner, minlength=slots.size))  # no node uses more slots than it has tasks
    free_at_s = [[0.0] * most for most in used.tolist()]
    for one_s, node in zip(task_s.tolist(), owner.tolist(), strict=True):
        free_s = free_at_s[node]
        heapq.heapreplace(free_s, free_s[0] + one_s)
    return np.array([max(one, default=0.0) for one in free_at_s])


def finish_many_s(rows_s: FloatArray, owner: IntArray, slots: IntArray, speed: FloatArray) -> FloatArray:
    """:func:`finish_s` of many batches of one placement at once, (n_rows, n_nodes); `rows_s` is (n_rows, n_tasks).

    The same to the last digit, in a step for each turn of all nodes in place of one for each task of each batch: for 64
    batches of 200 tasks on ten nodes that is 6 times as fast. Where turns are many for the tasks there are, one by one.
    """
    turns = _turns(owner)
    width = max(1, min(int(slots.max(initial=1)), len(turns)))
    at_once = MOST_CELLS // max(1, slots.size * width)
    if len(turns) * STEP > rows_s.size or at_once == 0:
        return np.array([finish_s(one, owner, slots, speed) for one in rows_s]).reshape(len(rows_s), slots.size)
    if len(rows_s) > at_once:
        starts = range(0, len(rows_s), at_once)
        return np.concatenate([finish_many_s(rows_s[at : at + at_once], owner, slots, speed) for at in starts])
    # Slots that a node does not have are never free first, nodes that have no task left add nothing, and no node uses
    # more slots than it has turns.
    free_at_s = np.zeros((len(rows_s), slots.size, width))
    free_at_s[:, slots[:, None] <= np.arange(width)] = np.inf
    for now in turns:
        task_s = np.zeros((len(rows_s), slots.size))
        task_s[:, owner[now]] = rows_s[:, now]
        first = free_at_s.argmin(axis=2)[:, :, None]
        np.put_along_axis(free_at_s, first, np.take_along_axis(free_at_s, first, 2) + task_s[:, :, None], 2)
    done: FloatArray = np.where(np.isinf(free_at_s), 0.0, free_at_s).max(axis=2)
    return done / speed


def turn_of(owner: IntArray) -> IntArray:
    """How many tasks of the same node come before each, (n_tasks,)."""
    order, turn = np.argsort(owner, kind="stable"), np.empty_like(owner)
    turn[order] = np.arange(owner.size) - np.searchsorted(owner[order], owner[order])
    return turn


def _turns(owner: IntArray) -> list[IntArray]:
    """The first tasks of all nodes, then their second ones, and so on, each as indices."""
    turn = turn_of(owner)
    return np.split(np.argsort(turn, kind="stable"), np.cumsum(np.bincount(turn))[:-1]) if owner.size else []


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
