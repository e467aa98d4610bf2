"""What the fast planner does, one after the other, within one deadline."""

from __future__ import annotations

import functools

import numpy as np

from streamjob_planners import balance, bound, drain, measures
from streamjob_planners.closing import closed
from streamjob_planners.crossings import Crossings
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.first_plans import tight_plan
from streamjob_planners.goals import Distance, RestDistance
from streamjob_planners.heavy_first import few_decide
from streamjob_planners.journeying import counts_of, journeyed
from streamjob_planners.levelling import levelled
from streamjob_planners.model import IntArray
from streamjob_planners.relaying import relayed
from streamjob_planners.thin import thin_out

LEVEL_SHARE = 0.5
"""Part of the time for the first plan: the passes after it gain more than further trials of bands."""
TIGHT_SHARE, LONE_TIGHT_SHARE = 0.2, 0.8
"""Part of the time for first plans of a tight budget; and where neither long passes nor relays follow."""
RELAYED_TIGHT_SHARE, TIGHT_S_PER_GROUP = 0.1, 2e-6
"""That part at least where relays follow, and the time for each key group that covering needs."""
LONG_STEPS_PER_NODE = 500
"""Steps for each node that there must be time for, so that long passes are of use: cut short they end far off."""
MANY_NODES, FEW_MOVES = 100, 3.0
"""Nodes above which, and moves for each below which relays do nearly all: cooling all nodes at once takes longer the
more there are, while walks only look at those that are off."""
BALANCE_SHARE = 0.6
"""Part of the time for the load distance when there is something to drain or a second measure to improve."""
ALONE_SHARE = 0.97
"""Part of the time for the load distance otherwise; the rest is for taking back moves."""
PROOF_S_PER_GROUP = 1e-6
"""Time that the bound needs before it can look whether its time is over."""
BOUND_SHARE = 0.1
"""Part of the time that the lower bound may take."""
COUNT_SHARE = 0.4
"""Part of the time for working out what counts allow: on ten thousand key groups it would take half of 0.1 s."""
COUNT_S_PER_GROUP = 7e-6
"""Time that it needs before it can look whether its time is over."""
PRICED, MOVES = [0, 2], 1
"""Allowances of which groups take different parts, seconds and bytes, and that of which all take as much."""
DRAIN_SHARE = 0.6
"""Part of what is then left for draining; the rest is for the second measure and for taking back moves."""
DRAIN_PAIN = 0.05
"""Pain per drain weight while draining: less than 1, so that a band is never given up for it."""
PASS_STEPS = 20_000
MOST_FAILURES = 30
"""Passes in a row that drain nothing more; the rest of the time is then left to others."""


class Phases:
    """The phases of one solve. `lower` and `notes` are there once it is done."""

    def __init__(self, engine: Engine, limits: Limits, schedule: balance.Schedule) -> None:
        self._engine = engine
        self._problem = engine.problem
        self._limits = limits
        self._schedule = schedule
        self._skewed = measures.skew_floor(self._problem.model) is not None
        self._long = False
        self.lower = 0.0
        self.notes: tuple[str, ...] = ()

    def solve(self) -> IntArray:
        """The placement of the plan: balanced, drained, thinned, and never worse than today's."""
        problem = self._problem
        to_drain = drain.waiting(problem, problem.model.node_of).size > 0
        first = levelled(self._engine, self._limits.share(LEVEL_SHARE), problem.params.tolerance)
        if drain.stretch(problem, first) > max(problem.params.tolerance, self._schedule.close):
            self._engine.sort_groups(self._limits)
            left_s = self._limits.left_s()
            self._long = self._engine.steps_in(self._limits, left_s) >= LONG_STEPS_PER_NODE * problem.model.n_nodes
            if left_s > 0.0:
                first = tight_plan(self._engine, self._limits, self._tight_share(left_s, to_drain), first)
        self.lower = self._proven(first)
        node_of = self._balance(first, to_drain)
        node_of = thin_out(self._engine, node_of, self._limits)
        if to_drain and not self._limits.over():
            node_of = self._drain(node_of)
        if self._skewed and not self._limits.over():
            node_of = self._balance_rest(node_of)
        if self._limits.over():
            self.notes = (*self.notes, "The deadline came before the search was done.")
        return drain.ensure_progress(problem, self._not_worse(node_of))

    def _tight_share(self, left_s: float, to_drain: bool) -> float:
        """Part of so much time for first plans: relays make more of what they cover than closer bands do."""
        if self._relays(to_drain):
            cover = self._problem.model.n_groups * TIGHT_S_PER_GROUP / left_s
            return float(np.clip(cover, RELAYED_TIGHT_SHARE, LONE_TIGHT_SHARE))
        return TIGHT_SHARE if self._long else LONE_TIGHT_SHARE

    def _proven(self, first: IntArray) -> float:
        """The lower bound; only the skew floor where there is no time, or nothing left to be proven."""
        part = self._limits.share(BOUND_SHARE)
        soon = drain.stretch(self._problem, first) <= self._schedule.close
        late = part.left_s() < self._problem.model.n_groups * PROOF_S_PER_GROUP
        return bound.bound_of(self._problem, (lambda: True) if soon or late else part.over, part.left_s)

    def _balance(self, start: IntArray, to_drain: bool) -> IntArray:
        """Exact exchanges or relays; heavy groups first where these decide.

        Exchanges and relays not where something is to be drained: what they spend is what drains. Heavy groups first
        saves what drains, where groups differ in price.
        """
        problem, share = self._problem, BALANCE_SHARE if to_drain or self._skewed else ALONE_SHARE
        params, aim, crossings = problem.params, Distance(problem), Crossings(problem)
        floor = max(self.lower, params.tolerance)
        goal = balance.Goal(
            aim=aim,
            floor=floor,
            price=params.price_per_move,
            long=aim if self._long else None,
            exact=None if to_drain else self._closing(aim),
            relays=None if to_drain else self._relaying(aim),
            exact_soon=self._relays(to_drain),
            exact_mostly=self._relays(to_drain) and self._many_and_few(),
            journeys=self._journeying(aim) if self._long and self._relays(to_drain) else None,
            heavy=aim if self._long and (self._priced() or not to_drain) and few_decide(problem) else None,
            crossings=crossings,
        )
        counting = functools.cache(lambda: self._limits.share(COUNT_SHARE))
        if counting().left_s() > problem.model.n_groups * COUNT_S_PER_GROUP:
            crossings.prepare(floor, aim.reached(start), lambda: counting().over())
        return self._descend(start, goal, share)

    def _closing(self, aim: Distance) -> balance.Closing | None:
        """Exact exchanges where groups differ in price, so that they can save; relays where all moves are alike."""
        if self._priced():
            return lambda engine, limits, best, board: closed(engine, limits, aim, best, board)
        return self._relaying(aim)

    def _relaying(self, aim: Distance) -> balance.Closing | None:
        """Relays wherever there is a budget; where groups differ in price, exchanges that save pay for them."""
        if self._priced() or self._relays(to_drain=False):
            saves = self._priced()
            return lambda engine, limits, best, board: relayed(engine, limits, aim, best, board, saves=saves)
        return None

    def _journeying(self, aim: Distance) -> balance.Journeying | None:
        """Counts of journeys first, where they can be worked out; both threads share them."""
        counts = counts_of(self._engine)
        if counts is None:
            return None
        return lambda engine, limits, reached: journeyed(engine, limits, aim, counts, reached)

    def _priced(self) -> bool:
        return bool(np.isfinite(self._problem.allowances[PRICED]).any())

    def _relays(self, to_drain: bool) -> bool:
        """Whether there are relays: they make much of a first plan at once."""
        return not (to_drain or self._priced()) and bool(np.isfinite(self._problem.allowances[MOVES]))

    def _many_and_few(self) -> bool:
        """Whether there are many nodes, and few moves for each."""
        nodes = self._problem.model.n_nodes
        return nodes > MANY_NODES and bool(self._problem.allowances[MOVES] < FEW_MOVES * nodes)

    def _balance_rest(self, start: IntArray) -> IntArray:
        aim = RestDistance(self._problem, drain.stretch(self._problem, start))
        aim.aim_from(start)
        self._engine.load(start)
        params = self._problem.params
        goal = balance.Goal(
            aim=aim,
            floor=params.tolerance,
            waiting=self._engine.waiting() + 1e-9,
            price=params.price_per_move,
            crossings=Crossings(self._problem),
        )
        return self._descend(start, goal, 0.9)

    def _descend(self, start: IntArray, goal: balance.Goal, share: float) -> IntArray:
        with self._limits.lent(share) as part:
            return balance.descend(self._engine, part, start, goal, self._schedule)

    def _drain(self, node_of: IntArray) -> IntArray:
        """The most drained within the slack: first the obvious, then passes that must each drain more."""
        problem, engine = self._problem, self._engine
        limit = drain.drain_limit(problem, drain.stretch(problem, node_of))
        best = drain.drain_within(problem, node_of, limit, self._limits.over)
        engine.load(best)
        engine.set_bands(*Distance(problem).bands(limit))
        with self._limits.lent(DRAIN_SHARE) as part:
            return self._drained_more(best, limit, part)

    def _drained_more(self, best: IntArray, limit: float, limits: Limits) -> IntArray:
        """What passes that must each drain more make of the best, which is loaded; within the bands of a distance."""
        problem, engine, failures = self._problem, self._engine, 0
        while drain.waiting(problem, best).size and failures < MOST_FAILURES and not limits.over():
            waiting = engine.waiting_of(best) * (1 - 1e-9) - 1e-9
            heat = self._schedule.heat * drain.group_utilisation(problem)
            if engine.run(limits, PASS_STEPS, heat, drain=DRAIN_PAIN, price=self._schedule.price, waiting=waiting):
                best, failures = engine.placement(), 0
                continue
            failures += 1
            engine.load(best)
            engine.set_bands(*Distance(problem).bands(limit))
        return best

    def _not_worse(self, node_of: IntArray) -> IntArray:
        """`node_of`, or today's placement if it neither drains, nor balances, nor helps the second measure."""
        model = self._problem.model
        if measures.drains(model, node_of):
            return node_of
        gained = measures.load_distance(model, model.node_of) - measures.load_distance(model, node_of)
        moves = int(np.count_nonzero(node_of != model.node_of))
        price = 0.0 if self._skewed else self._problem.params.price_per_move
        return node_of if gained >= price * moves - 1e-9 else model.node_of
