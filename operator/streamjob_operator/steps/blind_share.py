"""What executors without key groups get where no load is known: as many of each operator as the others have."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from streamjob_operator.sight import Sight
from streamjob_operator.spec import Denied, Mode, StreamJob
from streamjob_operator.steps.arrivals import Coming, prepared
from streamjob_operator.steps.batching import live
from streamjob_operator.steps.boundary import allowance_s, boundaries_s, in_waves
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.steps.idle import as_known
from streamjob_operator.steps.solve import plan_params
from streamjob_operator.steps.windows import denying
from streamjob_operator.values import Arrivals, Memory, Snapshot
from streamjob_planners import plans, what_if
from streamjob_planners.filling import fill_by_count
from streamjob_planners.model import BoolArray, LoadModel, Objective, Plan
from streamjob_planners.verify import verify

NAME = "by-count"
"""In place of a planner's name."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BlindShare:
    """`plan` moves key groups to executors that are here and have none, `arrivals` to those that are to come."""

    plan: Plan
    arrivals: Arrivals | None
    move_cost_s: tuple[float, ...]
    boundary_s: float
    boundaries_s: Mapping[str, float]

    @property
    def sentence(self) -> str:
        """For a person, with a space before it."""
        moves = len(self.plan.moves) + (0 if self.arrivals is None else len(self.arrivals.groups))
        return f" {moves} key groups go to executors without any, by their number alone."


def blind_share(sight: Sight, memory: Memory, target: int, job: StreamJob, now_s: float) -> BlindShare | None:
    """None where nobody lacks a share, where moves are under way, or where key groups may not move by themselves.

    An executor without key groups would take nothing off the others: tasks with state run where their state is.
    """
    snapshot, balancing = sight.snapshot, job.spec.balancing
    free = balancing.mode is Mode.AUTO and denying(job.spec.scaling.windows, Denied.MOVE, now_s) is None
    if not free or snapshot.moves_pending or not snapshot.group_ids or not live(snapshot):
        return None
    known = memory.known
    state_bytes = np.full(len(snapshot.group_ids), 0.0 if known is None else known.state_bytes)
    alike = as_known(dataclasses.replace(snapshot, state_bytes=state_bytes))
    seen = estimate(alike, memory, collocate=False, pinned=balancing.pinned_operators)
    model = dataclasses.replace(seen.model, batch=None)  # its seconds would be made up
    missing = max(0, target - int((~model.marked).sum()))
    if missing <= memory.arrivals and sight.awaiting:
        return None  # those that have come since take their share at the next batch boundary
    found = _filled(model, missing, _empty(model, snapshot), job)
    if found is None or (missing <= memory.arrivals and not found.carried.moves):
        return None
    budget, batch_s = balancing.migration_budget, 0.0 if known is None else known.batch_s
    plan, costs_s = in_waves(model, found.carried, budget, snapshot.queries)
    queries = [dataclasses.replace(one, mean_batch_s=batch_s) for one in snapshot.queries]
    return BlindShare(
        plan=plan,
        arrivals=None if found.coming is None else prepared(found.coming, found.carried, budget),
        move_cost_s=costs_s,
        boundary_s=allowance_s(budget, batch_s),
        boundaries_s=boundaries_s(queries, budget),
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Filled:
    """The moves among executors that exist, and the plan with those to come; None where none is to come."""

    carried: Plan
    coming: Coming | None


def _filled(model: LoadModel, missing: int, empty: BoolArray, job: StreamJob) -> _Filled | None:
    """None where nothing would move, or the plan breaks a rule."""
    extended = what_if.with_extra_nodes(model, missing)
    takers = np.append(empty, np.ones(missing, dtype=np.bool_))
    params = dataclasses.replace(plan_params(job), objective=Objective.LOAD_DISTANCE)
    node_of = fill_by_count(extended, takers, params.budget.max_migrations)
    whole = plans.make_plan(extended, node_of, planner=NAME, elapsed_s=0.0)
    if not whole.moves or verify(extended, whole, params):
        return None
    here = np.where(node_of < model.n_nodes, node_of, model.node_of).astype(np.int64)
    carried = plans.make_plan(model, here, planner=NAME, elapsed_s=0.0)
    coming = Coming(model=extended, plan=whole, executors=missing) if missing else None
    return _Filled(carried=carried, coming=coming)


def _empty(model: LoadModel, snapshot: Snapshot) -> BoolArray:
    """Nodes that may have key groups and have none, by what is seen of them and by the agent's count, (n_nodes,)."""
    told = {one.executor_id for one in snapshot.executors if one.groups}
    held = np.bincount(model.node_of, minlength=model.n_nodes) > 0
    named = np.array([name in told for name in model.node_ids], dtype=np.bool_)
    return ~held & ~named & ~model.marked
