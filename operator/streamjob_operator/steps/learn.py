"""What a window teaches about the cost of remote reads, for plans that count what collocation saves."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.values import Memory, Snapshot
from streamjob_planners.collocation.remote_cost import Evidence, Reading, learned
from streamjob_planners.model import BoolArray

MOST_MOVED = 2000
"""Key groups of one plan that are remembered; the window after a larger plan teaches nothing."""


def learn(memory: Memory, snapshot: Snapshot) -> Memory:
    """The memory with what this window teaches; a window is taken in once, and not while moves are under way."""
    new = memory.learned_at_s is None or snapshot.taken_at_s > memory.learned_at_s
    stirred = moved_rows(memory, snapshot)
    if not new or snapshot.moves_pending or stirred is None:
        return memory
    reading = reading_of(snapshot, stirred)
    if reading is None or reading.busy_s.size == 0:
        return memory
    before = memory.remote_reads or Evidence()
    return dataclasses.replace(memory, remote_reads=learned(before, reading), learned_at_s=snapshot.taken_at_s)


def moved_rows(memory: Memory, snapshot: Snapshot) -> BoolArray | None:
    """Key groups that changed their executor within the window, (n_groups,); None when nobody knows.

    So it is where executors came or went meanwhile.
    """
    n_groups = len(snapshot.group_ids)
    begin_s = snapshot.taken_at_s - snapshot.window_s
    if memory.fleet_since_s is not None and begin_s < memory.fleet_since_s:
        return None  # executors that went have left their key groups to others
    if memory.acted_at_s is None or begin_s >= memory.acted_at_s:
        return np.zeros(n_groups, dtype=np.bool_)
    if memory.moved is None:
        return None
    moved = frozenset(memory.moved)
    return np.array([f"{one.operator}/{one.partition}" in moved for one in snapshot.group_ids], dtype=np.bool_)


def reading_of(snapshot: Snapshot, stirred: BoolArray) -> Reading | None:
    """Key groups that read from others, except those that moved: loading state is not reading. None: nobody tells."""
    total, remote = snapshot.read_bytes, snapshot.remote_read_bytes
    if total is None or remote is None:
        return None
    names = {executor.executor_id: at for at, executor in enumerate(snapshot.executors)}
    owner = np.array([names.get(one or "", -1) for one in snapshot.owners], dtype=np.int64)
    rows = (total > 0) & (snapshot.busy_s > 0) & ~stirred & (owner >= 0)
    return Reading(
        operator=np.array([one.operator for one in snapshot.group_ids], dtype=np.int64)[rows],
        node_of=owner[rows],
        busy_s=snapshot.busy_s[rows],
        records=snapshot.records[rows],
        total_bytes=total[rows],
        remote_bytes=remote[rows],
    )
