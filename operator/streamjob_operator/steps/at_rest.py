"""A job at rest: no plan can gain what the gate asks for, so none is looked for.

That is proven before anything is searched, by figures of today's placement and a bound that no placement goes below,
or was found by a search that would be asked the same again. Whoever does not meet it goes the long way.
"""

from __future__ import annotations

from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.searched import as_searched, kept, once_more
from streamjob_operator.steps.worth import by_time
from streamjob_operator.steps.worth_distance import within
from streamjob_operator.steps.worth_time import LEAST_GAIN, NEAR_BOUND
from streamjob_operator.values import Searched
from streamjob_planners import measures, plans, registry
from streamjob_planners.acceptance import empty_nodes
from streamjob_planners.batch.bound import search_bound
from streamjob_planners.batch.floor import floors_s
from streamjob_planners.batch.settled import settled
from streamjob_planners.model import LoadModel, Plan, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.swings.common import LEAST_SWING, swing_ratio


def plan_at_rest(
    model: LoadModel, job: StreamJob, params: PlanParams, known: Searched | None = None
) -> tuple[Plan | None, Searched | None]:
    """The plan of a job at rest, None where one has to be looked for; and `known`, the search that is kept, as it is
    to be kept on.

    The plan changes nothing where whatever the default planner finds comes to nothing, and is the kept search's where
    that would be asked the same. A rule that may ask for other executors goes by what the plan would bring. Where they
    may change, it is today's placement only if a search would give just that back, or if nobody predicts batches:
    loads are the same anywhere.
    """
    if not _only_balances(model, job):
        return None, None
    if not by_time(model, job.spec.balancing):
        level = within(measures.load_distance(model, model.node_of), job.spec.balancing)
        told = job.resizes and model.batch is not None
        return (plans.hold_plan(model, planner=registry.DEFAULT) if level and not told else None), None
    if model.batch is None or _swings(model):
        return None, None
    problem = compile_problem(model, params)
    bound_s = search_bound(problem, model.batch, floors_s(problem, model.batch))
    today = plans.make_plan(model, model.node_of, planner=registry.DEFAULT, elapsed_s=0.0, batch_bound_s=bound_s)
    if settled(problem, model.batch, today.before, bound_s) or (not job.resizes and _near(today, bound_s)):
        return today, known
    again = as_searched(model, today, params, known)
    return again, None if again is None or known is None else once_more(known)


def searched(model: LoadModel, job: StreamJob, params: PlanParams, plan: Plan) -> Searched | None:
    """What is kept of a search that was made; None where it may not be, or says too little."""
    if not _only_balances(model, job) or not by_time(model, job.spec.balancing) or _swings(model):
        return None
    return kept(model, plan, params)


def _only_balances(model: LoadModel, job: StreamJob) -> bool:
    """Whether the default planner plans, and nothing but balance may ask for moves: no executors that go or have just
    come, no traffic, no memory."""
    moves = bool(model.marked.any()) or bool(empty_nodes(model).any())
    stirred = moves or model.traffic is not None or bool(model.resources)
    return job.spec.balancing.planner == registry.DEFAULT and not stirred


def _swings(model: LoadModel) -> bool:
    return swing_ratio(model.load_series) >= LEAST_SWING


def _near(plan: Plan, bound_s: float) -> bool:
    """Whether no placement shortens batches by what a gain must be at least, and today's counts as balanced."""
    today = plan.before
    if today.batch_s is None or today.expected_s is None:
        return False
    return today.batch_s <= (1 + NEAR_BOUND) * bound_s and today.expected_s - bound_s <= LEAST_GAIN * today.expected_s
