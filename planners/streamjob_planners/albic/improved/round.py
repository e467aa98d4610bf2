"""The steps of one round of ALBIC improved: relief, a walk towards a target, balance; all on one budget.

Sets stay whole as in the paper (steps 2 and 4), and are split only where the load distance would stay above
max_load_distance.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners import measures
from streamjob_planners.albic.improved.balance import Balance
from streamjob_planners.albic.improved.choice import Target, choose_target
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.albic.step_1_scores import Pairs
from streamjob_planners.albic.step_2_maintain import SetLimits, components, split_sets
from streamjob_planners.albic.task import Task
from streamjob_planners.collocation.graph import local_traffic, undirected
from streamjob_planners.collocation.walk import start_walk, walk_towards
from streamjob_planners.model import IntArray, LoadModel
from streamjob_planners.units import Prices

_BALANCE_LOSS = 0.2
"""What balancing may cost, of the gain that starts a walk: else the two would undo each other for ever."""

_MUCH_GAIN = 5.0
"""Gain of a new cut, in gains that start a walk, for which the load distance may become as large as is allowed. The
last traffic is not worth that: the walk would end there, as every better balance would cost some of it."""
_RELIEF_TIME = 0.2
"""Part of the time for a relief that can wait: the search for a target must still begin in time."""


class Round:
    """The steps of one round; each takes a placement of all key groups and returns a better one, (n_groups,)."""

    def __init__(self, task: Task, pairs: Pairs, settings: AlbicSettings) -> None:
        self._task = task
        self._pairs = pairs
        self._settings = settings
        self._balance = Balance(task, pairs, settings)
        self._graph = None if task.model.traffic is None else undirected(task.model.traffic)
        self.notes: list[str] = []

    def relieved(self, node_of: IntArray) -> IntArray:
        """Marked nodes and too large a load distance come first; up to the limit collocation is not undone for it."""
        model, limit = self._task.model, self._task.params.max_load_distance
        if self._graph is None:
            return node_of
        if measures.marked_groups(model, node_of) or measures.load_distance(model, node_of) > limit:
            return self._balance.solved(node_of)
        if measures.load_distance(model, node_of) > limit / 2.0:
            relieved = self._balance.solved(node_of, share=0.5, time_share=_RELIEF_TIME)
            return relieved if self._keeps_traffic(node_of, relieved) else node_of
        return node_of

    def walked(self, node_of: IntArray) -> IntArray:
        """Towards a target with more local traffic, if one is worth its moves."""
        left, whole = self._task.left(node_of), self._task.prices
        never = not bool((whole.cost <= whole.limit).any())  # no budget like this one pays for any key group
        if self._graph is None or never or left.limit <= 0.0 or self._task.expired():
            return node_of
        model = self._task.moved(node_of)
        target = choose_target(self._task, model, self._graph, self._pairs, self._settings)
        if target is None:
            return node_of
        self.notes.append(_walk_note(model, target, whole))
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
        better = self._balance.solved(node_of)
        if np.array_equal(better, node_of):
            better = self._balance.mended(node_of)
        if self._graph is None or distance > self._task.params.max_load_distance:
            return better
        return better if self._keeps_traffic(node_of, better) else node_of

    def _keeps_traffic(self, node_of: IntArray, better: IntArray) -> bool:
        """Whether a better balance makes so little traffic remote that no walk would start to undo it."""
        if self._graph is None:
            return True
        lost = local_traffic(self._graph, node_of) - local_traffic(self._graph, better)
        sent_bps = float(measures.sent_bps(self._task.model).sum())
        return lost <= _BALANCE_LOSS * self._settings.least_gain_ratio * sent_bps

    def afresh(self, node_of: IntArray) -> IntArray:
        """Balance alone, for when the steps together made things worse."""
        return self._balance.solved(node_of)

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
