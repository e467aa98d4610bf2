"""Load that must move, against the seconds and bytes that moving it costs: fractional knapsacks."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_planners.proof.setting import LIMITED, SLACK, Bands, Setting


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """Groups by load per price: cumulated load and price, to cover a load cheaply; both begin with 0."""

    load: FloatArray
    price: FloatArray

    def least_price(self, needed: float) -> float:
        """Least price to move at least `needed`, groups cut where need be; inf if that is not there."""
        if needed <= 0:
            return 0.0
        return np.inf if needed > self.load[-1] else float(np.interp(needed, self.load, self.price))


def cover_of(setting: Setting, groups: BoolArray | IntArray, column: int) -> Cover:
    """The cover that some groups offer, priced by one column."""
    problem = setting.problem
    load, price = problem.model.load[groups], problem.prices[groups, column]
    order = np.argsort(price / np.maximum(load, 1e-300), kind="stable")
    return Cover(load=np.append(0.0, load[order].cumsum()), price=np.append(0.0, price[order].cumsum()))


class TooDear:
    """Covering every node's excess, or moving what all lack together, costs more than the budget."""

    def __init__(self, setting: Setting, stop: Callable[[], bool]) -> None:
        """`stop`: when to give up."""
        problem = setting.problem
        self._setting = setting
        self._stop = stop
        self._columns = [column for column in LIMITED if np.isfinite(problem.allowances[column])]
        self._all = {column: cover_of(setting, problem.movable, column) for column in self._columns}
        marked = problem.movable & problem.model.marked[problem.model.node_of]
        self._marked = {column: cover_of(setting, marked, column) for column in self._columns}
        self._of_node = functools.cache(lambda node, column: cover_of(setting, setting.own(node), column))

    def refutes(self, bands: Bands) -> bool:
        """Whether some budget is too small."""
        return any(self._beyond(column, bands) for column in self._columns)

    def _beyond(self, column: int, bands: Bands) -> bool:
        problem = self._setting.problem
        allowed = problem.allowances[column] * (1 + SLACK)
        staying = problem.open_nodes
        to_ship = float(bands.low[staying].sum() - self._setting.loads[staying].sum())
        if self._marked[column].least_price(to_ship * (1 - SLACK)) > allowed:
            return True
        if self._all[column].least_price(float(bands.lack.sum()) * (1 - SLACK)) > allowed:
            return True
        bill = 0.0
        for node in np.flatnonzero(bands.excess).tolist():
            bill += self._of_node(node, column).least_price(float(bands.excess[node]) * (1 - SLACK))
            if bill > allowed:
                return True
            if self._stop():
                return False
        return False
