"""What the placements that StreamJob chose would take of the true work: their distance from the bound, without noise.

Once without what Spark itself does for each task, and once with it: a slot is busy with both, so the placement that is
best for the true work alone is not the one with the shortest batches.
"""

from __future__ import annotations

import dataclasses
import pathlib

import numpy as np
from cases import Case
from workload import bound_ms

from streamjob_operator.history import read_history
from streamjob_operator.values import Snapshot
from streamjob_planners.batch.schedule import finish_s


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One window: its end, its placement's stateful stages over their bound, and the same with Spark's own seconds."""

    at_s: float
    over_bound: float
    over_bound_with_own: float


def placed_over_bound(history: pathlib.Path, case: Case) -> list[Placed]:
    """Each window with an owner for every key group.

    Empty for a case without work, for one whose work shifts, and for one with a slow executor.
    """
    work = case.workload()
    if work.slow is not None:
        return []
    true_ms = work.level_ms(0)
    least_ms = bound_ms(true_ms, case.executors, case.cores)
    if least_ms <= 0 or any(len(level) > 1 for level in work.levels):
        return []
    seen = {one.snapshot.taken_at_s: one.snapshot for one in read_history(history).cycles if one.snapshot is not None}
    found = []
    for at_s, one in seen.items():
        if len(one.owners) == true_ms.size and all(one.owners) and one.rates.batches:
            both_ms = true_ms + own_ms(one, true_ms)
            over = placed_ms(one, true_ms, case.cores) / least_ms
            with_own = placed_ms(one, both_ms, case.cores) / bound_ms(both_ms, case.executors, case.cores)
            found.append(Placed(at_s=at_s, over_bound=over, over_bound_with_own=with_own))
    return found


def own_ms(snapshot: Snapshot, true_ms: np.ndarray) -> np.ndarray:
    """What a task of each stage takes beyond its true work, the median of the window's, (n_levels, 1), 0 or more."""
    task_ms = 1000.0 * snapshot.busy_s / snapshot.rates.batches
    beyond = [task_ms[rows] - group_ms for rows, group_ms in zip(rows_of(snapshot, len(true_ms)), true_ms, strict=True)]
    return np.array([[max(0.0, float(np.median(one)))] for one in beyond])


def placed_ms(snapshot: Snapshot, level_ms: np.ndarray, cores: int) -> float:
    """Sum over the stages of the slowest executor's tasks, which take `level_ms`, (n_levels, n_partitions)."""
    names = sorted({str(one) for one in snapshot.owners})
    total_ms = 0.0
    for rows, group_ms in zip(rows_of(snapshot, len(level_ms)), level_ms, strict=True):
        owner = np.array([names.index(str(snapshot.owners[at])) for at in rows], dtype=np.int64)
        total_ms += float(finish_s(group_ms, owner, np.full(len(names), cores)).max())
    return total_ms


def rows_of(snapshot: Snapshot, n_levels: int) -> list[list[int]]:
    """Key groups of each stage in the order of their partitions; Spark numbers a chain's operators from its end."""
    ids = snapshot.group_ids
    rows = [[at for at, group in enumerate(ids) if group.operator == n_levels - 1 - level] for level in range(n_levels)]
    return [sorted(one, key=lambda at: ids[at].partition) for one in rows]
