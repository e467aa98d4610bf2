"""The fast planner: level, prove, anneal towards ever tighter bands, drain, take back what does not pay.

Anytime: the first plan levels nodes in pairs and is there within milliseconds (a quarter of a second for a million key
groups); the lower bound comes next; then threshold annealing improves the plan until the deadline or until it meets the
bound, the tolerance or the step limit. A step costs about 0.2 microseconds when compiled.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners import balance, plans
from streamjob_planners.engine import Engine, Limits, Reserve
from streamjob_planners.kernel.compiled import AVAILABLE
from streamjob_planners.model import Clock, LoadModel, Plan, PlanParams
from streamjob_planners.phases import Phases
from streamjob_planners.problem import compile_problem
from streamjob_planners.warm import warm_up

FINISH_S = 8e-3 if AVAILABLE else 5e-2
"""Time until both threads have stopped and this one goes on, kept back from the search: one that runs Python gives way
after five milliseconds."""
FINISH_S_PER_MOVE = 4e-6 if AVAILABLE else 4e-5
"""Time to put one move in its place in the plan, kept back from the search."""
FINISH_S_PER_GROUP = 1e-7
"""Time to look once more at every key group, for the effects of the plan, kept back as well."""

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
        problem = compile_problem(model, params)
        engine = Engine(problem, 1 + int(rng.integers(2**31 - 3)))
        reserve = Reserve(lambda: _finish_s(engine), MOST_WAITING * params.deadline_s)
        limits = Limits(clock, start + params.deadline_s, params.max_iterations, reserve)
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


def _finish_s(engine: Engine) -> float:
    """Time to make a plan of what the engine holds."""
    return FINISH_S + engine.moves() * FINISH_S_PER_MOVE + engine.problem.model.n_groups * FINISH_S_PER_GROUP
