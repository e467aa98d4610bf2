"""How much more load today's placement survives, cheaply enough for every cycle.

`resilience` asks the same of any linear model and samples the feasible set besides. Here the sources are the mixes that
batches have shown, so what is survived is any growth that is a mix of these; and stages of a batch run one after
another, so a placement is full when the slowest executors of all levels together take all the time there is. With one
level this is section 4.1.3's condition that no node is above its capacity. The time taken is convex in the load, so the
worst growth of a given size is one of the mixes alone (as in section 4.4.1, on one axis).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.arrays import FloatArray
from streamjob_planners.model import LoadModel
from streamjob_planners.window_time import WindowTime, slowest

FEWEST_MIXES = 5
"""Rows of the load series from which on they are said to show how loads vary."""
_HALVINGS = 30


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """What a placement survives. Ratios of 1.0 are today's load; below, it is overloaded today.

    Attributes:
        alike_ratio: times today's load if all of it grows alike.
        any_ratio: times today's load if the growth has the worst of the mixes that were seen; None for too few.
        full_node: the node that is waited for longest at today's mix, an index.
        mixes: how many were asked.
    """

    alike_ratio: float
    any_ratio: float | None
    full_node: int
    mixes: int


def headroom(model: LoadModel, *, other_load: float = 0.0, fixed_ratio: float = 0.0) -> Headroom | None:
    """The figures of `model.node_of`; None without load. O(n_mixes * (n_groups + n_nodes * n_levels)).

    Args:
        model: loads, capacities, levels of the batch where it has one, and the load series.
        other_load: load that is on no key group, spread over all nodes, percent points, >= 0.
        fixed_ratio: part of the time that no load explains and none takes away, 0 to 1.
    """
    total = float(model.load.sum())
    if total <= 0.0:
        return None
    time = _Time(model, other_load / total)
    today, left = time.by_node(model.load[None, :]), max(0.0, 1.0 - fixed_ratio)
    used = float(slowest(today)[0])
    mixes = _mixes(model, total)
    return Headroom(
        alike_ratio=left / used,
        any_ratio=None if mixes is None else _worst(today, time.by_node(mixes), left),
        full_node=int(today[0].max(axis=1).argmax()),
        mixes=0 if mixes is None else len(mixes),
    )


class _Time:
    """Part of the time that loads take, level after level, with what is on no key group."""

    def __init__(self, model: LoadModel, other_ratio: float) -> None:
        self._of = WindowTime(model, model.node_of)
        self._other = other_ratio / float(self._of.capacity.sum())

    def by_node(self, loads: FloatArray) -> FloatArray:
        """Of each row of loads, (n_rows, n_groups): each node's part of the time, (n_rows, n_nodes, n_levels)."""
        own = self._of.by_node(loads)
        # What is spread over all nodes comes on top of the first level's slowest, as a stage of its own would.
        own[:, :, 0] += self._other * loads.sum(axis=1)[:, None]
        return own


def _mixes(model: LoadModel, total: float) -> FloatArray | None:
    """Rows of the series that hold any load, each as much as today's, (n_mixes, n_groups)."""
    series = model.load_series
    if series is None:
        return None
    sums = series.sum(axis=1)
    rows = series[sums > 0] * (total / sums[sums > 0])[:, None]
    return rows if len(rows) >= FEWEST_MIXES else None


def _worst(today: FloatArray, mixes: FloatArray, left: float) -> float:
    """1 + the least growth that fills what is left, over all mixes; what is overloaded today falls alike."""
    used = float(slowest(today)[0])
    if used >= left:
        return left / used
    low, high = np.zeros(len(mixes)), left / slowest(mixes)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        fits = slowest(today + middle[:, None, None] * mixes) <= left
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return 1.0 + float(low.min())
