"""ALBIC improved: as many pairs a round as the budget and the load distance allow, best benefit per cost first.

A round is up to three steps on one budget: relief (marked nodes, or a load distance that cannot wait), a walk towards a
target that keeps partners together, and balance with what is left. All keep sets whole as the paper does, and split
them only where the load distance would stay above max_load_distance. Where the time of a batch counts, levels are
levelled instead (`by_time`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from streamjob_planners import measures, plans, registry, traffic
from streamjob_planners.albic.improved.by_time import plan_by_time
from streamjob_planners.albic.improved.choice import Target, choose_target
from streamjob_planners.albic.settings import INNER, AlbicSettings
from streamjob_planners.albic.step_1_scores import Pairs, beneficial_pairs, joining
from streamjob_planners.albic.step_2_maintain import SetLimits, components, split_sets
from streamjob_planners.albic.step_4_solve import descend, unit_loads
from streamjob_planners.albic.task import Task, start_task
from streamjob_planners.collocation.graph import local_traffic, undirected
from streamjob_planners.collocation.walk import start_walk, walk_towards
from streamjob_planners.mending import mended
from streamjob_planners.model import Clock, IntArray, LoadModel, Objective, Plan, Planner, PlanParams
from streamjob_planners.units import Prices, contracted

_BALANCE_LOSS = 0.2
"""What balancing may cost, of the gain that starts a walk: else the two would undo each other for ever."""

_MUCH_GAIN = 5.0
"""Gain of a new cut, in gains that start a walk, for which the load distance may become as large as is allowed. The
last traffic is not worth that: the walk would end there, as every better balance would cost some of it."""
_RELIEF_TIME = 0.2
"""Part of the time for a relief that can wait: the search for a target must still begin in time."""


class AlbicPlanner:
    """Balances, drains and collocates in one plan."""

    name = "albic"

    def __init__(self, settings: AlbicSettings | None = None, inner: Planner | None = None) -> None:
        """`inner`: the planner that balances units; `settings.INNER` where None."""
        self._settings = settings or AlbicSettings()
        self._inner = inner or registry.get(INNER)

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Plans one round. Raises ValueError on bad parameters."""
        given, by_time = model, params.objective_of(model) is Objective.BATCH_TIME
        if by_time:
            model = traffic.worth_planning(model, traffic.payback_s(model, params))
        task = start_task(model, params, rng, clock, self._inner)
        pairs = beneficial_pairs(model, self._settings.score_factor)
        round_ = _Round(task, pairs, self._settings)
        node_of = plan_by_time(task, pairs, round_.walked) if by_time else self._by_load(task, round_)
        return plans.make_plan(
            given,
            node_of if task.acceptable(node_of) else model.node_of,
            planner=self.name,
            batch_bound_s=plans.batch_bound_in_time(model, params, task.left_s),
            lower_bound=task.lower_bound(),
            elapsed_s=clock() - task.start_s,
            notes=tuple(round_.notes),
            collocating=joining(model, node_of, pairs),
        )

    def _by_load(self, task: Task, round_: _Round) -> IntArray:
        node_of = round_.relieved(task.model.node_of)
        node_of = round_.walked(node_of)
        node_of = round_.balanced(node_of)
        if not task.acceptable(node_of):
            node_of = round_.balance(task.model.node_of)
        return node_of


class _Round:
    """The steps of one round; each takes a placement of all key groups and returns a better one, (n_groups,)."""

    def __init__(self, task: Task, pairs: Pairs, settings: AlbicSettings) -> None:
        self._task = task
        self._pairs = pairs
        self._settings = settings
        self._graph = None if task.model.traffic is None else undirected(task.model.traffic)
        self.notes: list[str] = []

    def relieved(self, node_of: IntArray) -> IntArray:
        """Marked nodes and too large a load distance come first; up to the limit collocation is not undone for it."""
        model, limit = self._task.model, self._task.params.max_load_distance
        if self._graph is None:
            return node_of
        if measures.marked_groups(model, node_of) or measures.load_distance(model, node_of) > limit:
            return self.balance(node_of)
        if measures.load_distance(model, node_of) > limit / 2.0:
            relieved = self.balance(node_of, share=0.5, time_share=_RELIEF_TIME)
            return relieved if self._keeps_traffic(node_of, relieved) else node_of
        return node_of

    def walked(self, node_of: IntArray) -> IntArray:
        """Towards a target with more local traffic, if one is worth its moves."""
        left = self._task.left(node_of)
        if self._graph is None or left.limit <= 0.0 or self._task.expired():
            return node_of
        model = self._task.moved(node_of)
        target = choose_target(self._task, model, self._graph, self._pairs, self._settings)
        if target is None:
            return node_of
        self.notes.append(_walk_note(model, target, self._task.prices))
        unit_of = self._walkers(model, target, left)
        walk = start_walk(model, self._graph, unit_of, target.node_of, left)
        return walk_towards(walk, self._bands(target), self._task.expired)[unit_of]

    def _bands(self, target: Target) -> tuple[float, ...]:
        """Load distances that the walk may use, one after the other, points; the last cuts do not get all of it."""
        widest = self._task.params.max_load_distance
        much = target.gathers or target.gain >= _MUCH_GAIN * self._settings.least_gain_ratio
        return (widest / 4.0, widest / 2.0, *((widest,) if much else ()))

    def balanced(self, node_of: IntArray) -> IntArray:
        """What is left of the budget for balance, unless that would undo collocation."""
        model = self._task.moved(node_of)
        distance = measures.load_distance(model, node_of)
        balanced = distance <= self._task.params.tolerance and not measures.marked_groups(model, node_of)
        if balanced or self._task.expired():
            return node_of
        better = self.balance(node_of)
        if np.array_equal(better, node_of):
            better = self.mended(node_of)
        if self._graph is None or distance > self._task.params.max_load_distance:
            return better
        return better if self._keeps_traffic(node_of, better) else node_of

    def _keeps_traffic(self, node_of: IntArray, better: IntArray) -> bool:
        """Whether a better balance makes so little traffic remote that no walk would start to undo it."""
        if self._graph is None:
            return True
        lost = local_traffic(self._graph, node_of) - local_traffic(self._graph, better)
        return lost <= _BALANCE_LOSS * self._settings.least_gain_ratio * float(
            measures.sent_bps(self._task.model).sum()
        )

    def mended(self, node_of: IntArray) -> IntArray:
        """The worst nodes mended one by one, sets whole, where no plan of one round lowers the load distance."""
        model = self._task.moved(node_of)
        unit_of = self._units(model, float("inf"))
        units = contracted(model, unit_of, self._task.prices.cost)
        params = self._task.params
        allowance = self._task.left(node_of)
        return mended(units, allowance.limit, params.tolerance, params.price_per_move)[unit_of]

    def balance(self, node_of: IntArray, share: float = 1.0, time_share: float | None = None) -> IntArray:
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

    def _unit_loads(self) -> Iterator[float]:
        """Whole sets first, whatever their load; then the paper's descent."""
        yield float("inf")
        if len(self._pairs):
            yield from unit_loads(self._settings)

    def _units(self, model: LoadModel, max_load: float) -> IntArray:
        together = self._pairs.where(self._pairs.collocated(model.node_of))
        limits = SetLimits(max_load=max_load, max_cost=self._task.prices.limit)
        sets = components(together, model.n_groups)
        return split_sets(model, sets, together, self._task.prices.cost, limits)

    def _walkers(self, model: LoadModel, target: Target, left: Prices) -> IntArray:
        """Units of the walk: together today and together at the target; none dearer than half the budget."""
        pairs = self._pairs
        together = pairs.where(pairs.collocated(model.node_of) & pairs.collocated(target.node_of))
        limits = SetLimits(max_load=float("inf"), max_cost=left.limit / 2.0)
        return split_sets(model, components(together, model.n_groups), together, left.cost, limits)


def _walk_note(model: LoadModel, target: Target, whole: Prices) -> str:
    away = target.node_of != model.node_of
    rounds = float(whole.cost[away].sum()) / whole.limit if np.isfinite(whole.limit) else 0.0
    return (
        f"{int(away.sum())} key groups are not yet with those they talk to; this takes about "
        f"{max(int(np.ceil(rounds)), 1)} round(s) of this budget."
    )
