"""Which key group to move so that an executor's speed becomes known (exploration, section 5.4 of the blocking paper).

Nothing is learned of an executor whose groups no other executor ever ran, as little as of a connection at a weight
that it never had. One cheap group that others ran is enough.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.capacity.speed import Speed, TaskRows

WIDE_RATIO = 1.5
"""Upper over lower end of an interval from which on an executor counts as unknown."""
LEAST_TASKS = 3
"""Tasks of a group elsewhere, with which its first ones can be compared."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A move that teaches: `group` to `executor`, indices."""

    group: int
    executor: int


def probe(
    tasks: TaskRows, found: Sequence[Speed | None], node_of: IntArray, migration_cost_s: FloatArray
) -> Probe | None:
    """The cheapest move that makes the least known executor comparable; None where all are known or none would help.

    Args:
        tasks: what `found` was worked out from.
        found: speed of each executor, (n_executors,).
        node_of, migration_cost_s: today's executor of each group, and what moving it costs, (n_groups,).
    """
    width = np.array([np.inf if one is None else one.high / one.low for one in found])
    known = width < WIDE_RATIO
    if known.all() or not known.any():
        return None
    executor = int(width.argmax())
    taught = np.zeros(node_of.size, dtype=np.int64)
    useful = known[tasks.executor]
    np.add.at(taught, tasks.group[useful], 1)
    able = np.flatnonzero((taught >= LEAST_TASKS) & known[node_of])
    if able.size == 0:
        return None
    return Probe(group=int(able[migration_cost_s[able].argmin()]), executor=executor)
