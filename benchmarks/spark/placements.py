"""What the placements that StreamJob chose would take of the true work: their distance from the bound, without Spark's
own cost and without noise."""

from __future__ import annotations

import pathlib

import numpy as np
from cases import Case

from streamjob_operator.history import read_history
from streamjob_operator.values import Snapshot
from streamjob_planners.batch.schedule import finish_s


def placed_over_bound(history: pathlib.Path, case: Case) -> list[tuple[float, float]]:
    """(end of the window, stateful stages under its placement over their bound) of each window with an owner for every
    key group; empty for a case without work, for one whose work shifts, and for one with a slow executor."""
    work = case.workload()
    if work.slow is not None:
        return []
    bound_ms = work.bound_ms(case.executors, case.cores, 0)
    if bound_ms <= 0 or any(len(level) > 1 for level in work.levels):
        return []
    seen = {one.snapshot.taken_at_s: one.snapshot for one in read_history(history).cycles if one.snapshot is not None}
    whole = ((at_s, one) for at_s, one in seen.items() if len(one.owners) == work.level_ms(0).size and all(one.owners))
    return [(at_s, placed_ms(one, case) / bound_ms) for at_s, one in whole]


def placed_ms(snapshot: Snapshot, case: Case) -> float:
    """Sum over the stages of the slowest executor's true work; Spark numbers a chain's operators from its end."""
    level_ms, names = case.workload().level_ms(0), sorted({str(one) for one in snapshot.owners})
    total_ms = 0.0
    for level, group_ms in enumerate(level_ms):
        operator = len(level_ms) - 1 - level
        rows = [at for at, group in enumerate(snapshot.group_ids) if group.operator == operator]
        rows.sort(key=lambda at: snapshot.group_ids[at].partition)
        owner = np.array([names.index(str(snapshot.owners[at])) for at in rows], dtype=np.int64)
        total_ms += float(finish_s(group_ms, owner, np.full(len(names), case.cores)).max())
    return total_ms
