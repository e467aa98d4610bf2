"""The fast planner: threshold annealing towards ever tighter bands, then drain, then take back what does not pay.

Anytime: there is a plan within milliseconds, and it improves until the deadline or until it meets the lower bound, the
tolerance or the step limit. Annealing on the sum of band violations, with steps that shift, swap, redirect, replace and
return home, works because a step costs about 0.3 microseconds when compiled.
"""

from __future__ import annotations

import functools

import numpy as np

from streamjob_planners import balance, bound, drain, measures, plans
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.model import Budget, Clock, GroupId, IntArray, LoadModel, Plan, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.thin import thin_out

BALANCE_SHARE = 0.6
"""Part of the time for the load distance when there is something to drain or a second measure to improve."""
BOUND_SHARE = 0.2
"""Part of the time that the lower bound may take."""
DRAIN_SHARE = 0.6
"""Part of what is then left for draining; the rest is for the second measure and for taking back moves."""
FINISH_S_PER_MOVE = 3e-5
"""Time to put one move in its place in the plan, kept back from the search."""
DRAIN_PAIN = 0.05
"""Pain per drain weight while draining: less than 1, so that a band is never given up for it."""
PASS_STEPS = 20_000


class SearchPlanner:
    """Annealing, anytime, deterministic under max_iterations (one iteration is one step tried)."""

    name = "search"

    def __init__(self, *, schedule: balance.Schedule | None = None) -> None:
        """Compiles the inner loops, once per process; a few seconds once per machine, kept on disk."""
        self._schedule = schedule or balance.Schedule()
        warm_up()

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Plan. Raises ValueError on bad parameters."""
        start = clock()
        problem = compile_problem(model, params)
        most_moves = min(float(problem.movable.sum()), float(problem.allowances[1]))
        searching_s = max(0.5 * params.deadline_s, params.deadline_s - most_moves * FINISH_S_PER_MOVE)
        limits = Limits(clock, start + searching_s, params.max_iterations)
        lower = bound.bound_of(problem, limits.share(BOUND_SHARE).over)
        run = _Run(Engine(problem, 1 + int(rng.integers(2**31 - 3))), limits, lower, self._schedule)
        node_of = run.solve()
        return plans.make_plan(
            model, node_of, planner=self.name, elapsed_s=clock() - start, lower_bound=lower, notes=run.notes
        )


class _Run:
    """The phases of one solve."""

    def __init__(self, engine: Engine, limits: Limits, lower: float, schedule: balance.Schedule) -> None:
        self._engine = engine
        self._problem = engine.problem
        self._limits = limits
        self._lower = lower
        self._schedule = schedule
        self._skewed = measures.skew_floor(self._problem.model) is not None
        self.notes: tuple[str, ...] = ()

    def solve(self) -> IntArray:
        """The placement of the plan: balanced, drained, thinned, and never worse than today's."""
        problem = self._problem
        today = problem.model.node_of
        to_drain = drain.waiting(problem, today).size > 0
        node_of = self._balance(today, BALANCE_SHARE if to_drain or self._skewed else 0.9)
        node_of = thin_out(problem, node_of, self._limits)
        if to_drain:
            node_of = self._drain(node_of)
        if self._skewed:
            node_of = self._balance_rest(node_of)
        if self._limits.over():
            self.notes = (*self.notes, "The deadline came before the search was done.")
        return drain.ensure_progress(problem, self._not_worse(node_of))

    def _balance(self, start: IntArray, share: float) -> IntArray:
        params = self._problem.params
        goal = balance.Goal(
            aim=balance.Distance(self._problem),
            floor=max(self._lower, params.tolerance),
            price=params.price_per_move,
        )
        return self._descend(start, goal, share)

    def _balance_rest(self, start: IntArray) -> IntArray:
        aim = balance.RestDistance(self._problem, drain.stretch(self._problem, start))
        aim.aim_from(start)
        self._engine.load(start)
        params = self._problem.params
        goal = balance.Goal(
            aim=aim, floor=params.tolerance, waiting=self._engine.waiting() + 1e-9, price=params.price_per_move
        )
        return self._descend(start, goal, 0.9)

    def _descend(self, start: IntArray, goal: balance.Goal, share: float) -> IntArray:
        part = self._limits.share(share)
        before = part.steps_left
        found = balance.descend(self._engine, part, start, goal, self._schedule)
        if np.isfinite(before):
            self._limits.steps_left -= before - part.steps_left
        return found

    def _drain(self, node_of: IntArray) -> IntArray:
        """The most drained within the slack: first the obvious, then passes that must each drain more."""
        problem, engine = self._problem, self._engine
        limit = drain.drain_limit(problem, drain.stretch(problem, node_of))
        best = drain.drain_within(problem, node_of, limit)
        engine.load(best)
        engine.set_bands(*balance.Distance(problem).bands(limit))
        part = self._limits.share(DRAIN_SHARE)
        before, failures = part.steps_left, 0
        while drain.waiting(problem, best).size and failures < 8 and not part.over():
            waiting = engine.waiting_of(best) * (1 - 1e-9) - 1e-9
            heat = min(self._schedule.heat * limit, self._schedule.most_heat * balance.group_utilisation(problem))
            if engine.run(part, PASS_STEPS, heat, drain=DRAIN_PAIN, price=self._schedule.price, waiting=waiting):
                best, failures = engine.placement(), 0
                continue
            failures += 1
            engine.load(best)
            engine.set_bands(*balance.Distance(problem).bands(limit))
        if np.isfinite(before):
            self._limits.steps_left -= before - part.steps_left
        return best

    def _not_worse(self, node_of: IntArray) -> IntArray:
        """`node_of`, or today's placement if it neither drains, nor balances, nor helps the second measure."""
        model = self._problem.model
        if measures.marked_groups(model, node_of) < measures.marked_groups(model, model.node_of):
            return node_of
        gained = measures.load_distance(model, model.node_of) - measures.load_distance(model, node_of)
        moves = int(np.count_nonzero(node_of != model.node_of))
        price = 0.0 if self._skewed else self._problem.params.price_per_move
        return node_of if gained >= price * moves - 1e-9 else model.node_of


@functools.cache
def warm_up() -> None:
    """Compile the inner loops on a tiny model."""
    model = LoadModel(
        node_ids=("a", "b"),
        capacity=np.ones(2),
        marked=np.zeros(2, dtype=np.bool_),
        group_ids=(GroupId(operator=0, partition=0), GroupId(operator=0, partition=1)),
        node_of=np.zeros(2, dtype=np.int64),
        load=np.array([1.0, 2.0]),
        migration_cost_s=np.ones(2),
        state_bytes=np.ones(2),
        pinned=np.zeros(2, dtype=np.bool_),
    )
    problem = compile_problem(model, PlanParams(budget=Budget(max_migrations=1)))
    engine = Engine(problem, 1)
    engine.set_bands(np.zeros(2), np.zeros(2))
    engine.run(Limits(lambda: 0.0, 1.0, 1), 1, 0.0, drain=0.0, price=0.0)
