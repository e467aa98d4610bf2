"""The fast planner: level, prove, anneal towards ever tighter bands, drain, take back what does not pay.

Anytime: the first plan levels nodes in pairs and is there within milliseconds (a quarter of a second for a million key
groups); the lower bound comes next; then threshold annealing improves the plan until the deadline or until it meets the
bound, the tolerance or the step limit. A step costs about 0.2 microseconds when compiled. Where loads swing, the
batches of the series are then made short one by one (docs/decisions/0065-swings.md).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import balance, objective, plans
from streamjob_planners.acceptance import pays
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.batch_phases import BatchPhases
from streamjob_planners.cells import cells_of
from streamjob_planners.engine import Engine, Limits, Reserve
from streamjob_planners.greedy_levels import greedy_levels
from streamjob_planners.kernel.compiled import AVAILABLE
from streamjob_planners.model import Clock, IntArray, LoadModel, Objective, Plan, PlanParams
from streamjob_planners.phases import Phases
from streamjob_planners.problem import Problem, compile_problem
from streamjob_planners.swings.evening import Evening
from streamjob_planners.swings.rows import batches_of
from streamjob_planners.warm import warm_up

FINISH_S = 7e-3 if AVAILABLE else 5e-2
"""Time until both threads have stopped and this one goes on, kept back from the search: one that runs Python gives way
after five milliseconds."""
FINISH_S_PER_MOVE = 1.5e-6 if AVAILABLE else 4e-5
"""Time to put one move in its place in the plan, kept back from the search."""
ROOM_S_PER_MOVE = 6e-6
"""Time to let moves that make room go first, where a further resource is scarce."""
THIN_S_PER_MOVE = 2e-5 if AVAILABLE else 1e-3
"""Time to see whether a move pays, where that is batches."""
FINISH_S_PER_GROUP = 6e-8
"""Time to look once more at every key group, for the effects of the plan, kept back as well."""
PROOF_SLACK_RATIO = 1e-6
"""Part of a batch by which a plan may miss its bound and still count as proven optimal."""

MOST_FILLED = 300
"""Key groups up to which a greedy pass is tried beside the search: it takes some milliseconds."""
MEAN_SHARE = 0.4
"""Part of the time for the mean batch, where loads swing: the rest is for the batches one by one."""
MOST_WAITING = 0.5
"""Part of the time that is kept back at most because threads have had to wait for a core."""


class SearchPlanner:
    """Annealing, anytime, deterministic under max_iterations (one iteration is one step tried)."""

    name = "search"

    def __init__(self, *, schedule: balance.Schedule | None = None) -> None:
        """Loads the compiled loops, once per process; they are compiled once per machine."""
        self._schedule = schedule or balance.Schedule()
        warm_up()

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Plan. Raises ValueError on bad parameters."""
        start = clock()
        problem, seed = compile_problem(model, params), 1 + int(rng.integers(2**31 - 3))
        shape = model.batch if params.objective_of(model) is Objective.BATCH_TIME else None
        engine = Engine(problem, seed, None if shape is None else cells_of(problem, shape))
        per_move = FINISH_S_PER_MOVE + (THIN_S_PER_MOVE if shape is not None else 0.0)
        per_move += ROOM_S_PER_MOVE if model.resources else 0.0
        reserve = Reserve(lambda: _finish_s(engine, per_move), MOST_WAITING * params.deadline_s)
        limits = Limits(clock, start + params.deadline_s, params.max_iterations, reserve)
        if shape is not None:
            batches = batches_of(model)
            part = limits if batches is None else limits.share(MEAN_SHARE)
            shorter = BatchPhases(engine, part, self._schedule, shape)
            node_of = shorter.solve()
            node_of = node_of if shorter.enough(node_of) else _filled(problem, shape, node_of, clock)
            if batches is not None:
                node_of = Evening(engine, limits, batches, shorter.toll).better(node_of)
            plan = self._shorter(shorter, node_of, model, clock() - start)
            return plan if batches is None else dataclasses.replace(plan, proven_optimal=False)
        phases = Phases(engine, limits, self._schedule)
        node_of = phases.solve()
        return plans.make_plan(
            model,
            node_of,
            planner=self.name,
            elapsed_s=clock() - start,
            lower_bound=phases.lower,
            notes=phases.notes,
        )

    def _shorter(self, phases: BatchPhases, node_of: IntArray, model: LoadModel, elapsed_s: float) -> Plan:
        """The plan for a shorter batch, with what is proven of it."""
        plan = plans.make_plan(model, node_of, planner=self.name, elapsed_s=elapsed_s, notes=phases.notes)
        met = plan.after.batch_s is not None and plan.after.batch_s <= phases.bound_s * (1 + PROOF_SLACK_RATIO)
        return dataclasses.replace(plan, batch_bound_s=phases.bound_s, proven_optimal=met)


def _filled(problem: Problem, shape: BatchShape, node_of: IntArray, clock: Clock) -> IntArray:
    """`node_of`, or what one greedy pass makes of today's placement where that is better.

    On several slots the end of a node's tasks does not change with every task, so the search sees no use in single
    moves to a node that has none; the pass counts work per slot.
    """
    model = problem.model
    if (shape.slots == 1).all() or model.n_groups > MOST_FILLED or model.marked.any():
        return node_of
    other = greedy_levels(problem, shape, clock, np.inf)
    better = objective.cost(problem, other) < objective.cost(problem, node_of)
    return other if better and pays(model, other, problem.params) else node_of


def _finish_s(engine: Engine, per_move: float) -> float:
    """Time to make a plan of what the engine holds."""
    return FINISH_S + engine.moves() * per_move + engine.problem.model.n_groups * FINISH_S_PER_GROUP
