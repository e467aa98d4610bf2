"""Balance with key groups that are together kept whole: the paper's steps 2 and 4, and mending where these hold."""

from __future__ import annotations

from collections.abc import Iterator

from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.albic.step_1_scores import Pairs
from streamjob_planners.albic.step_2_maintain import SetLimits, maintained
from streamjob_planners.albic.step_4_solve import descend, unit_loads
from streamjob_planners.albic.task import Task
from streamjob_planners.mending import mended
from streamjob_planners.model import IntArray, LoadModel
from streamjob_planners.units import Prices, contracted


class Balance:
    """The inner solver and what helps it, during one call of ALBIC; placements are of all key groups, (n_groups,)."""

    def __init__(self, task: Task, pairs: Pairs, settings: AlbicSettings) -> None:
        self._task = task
        self._pairs = pairs
        self._settings = settings

    def solved(self, node_of: IntArray, share: float = 1.0, time_share: float | None = None) -> IntArray:
        """The inner solver with sets whole, with split sets while the load distance stays too large.

        `share` is the part of the budget that it may take, `time_share` that of the time left.
        """
        task = self._task
        model = task.moved(node_of)
        left = task.left(node_of)
        part = time_share or (0.5 if len(self._pairs) else 0.95)
        allowance = Prices(cost=left.cost, limit=left.limit * share)
        found = descend(
            model,
            self._unit_loads(),
            lambda max_load: task.balance(model, self._units(model, max_load), allowance, time_share=part),
            task.params.max_load_distance,
            task.expired,
        )
        return found.node_of

    def mended(self, node_of: IntArray) -> IntArray:
        """The worst nodes mended one by one, sets whole, where no plan of one round lowers the load distance."""
        model = self._task.moved(node_of)
        unit_of = self._units(model, float("inf"))
        units = contracted(model, unit_of, self._task.prices.cost)
        params = self._task.params
        allowance = self._task.left(node_of)
        return mended(units, allowance.limit, params.tolerance, params.price_per_move)[unit_of]

    def _unit_loads(self) -> Iterator[float]:
        """Whole sets first, whatever their load; then the paper's descent."""
        yield float("inf")
        if len(self._pairs):
            yield from unit_loads(self._settings)

    def _units(self, model: LoadModel, max_load: float) -> IntArray:
        limits = SetLimits(max_load=max_load, max_cost=self._task.prices.limit)
        return maintained(model, self._pairs, self._task.prices.cost, limits)
