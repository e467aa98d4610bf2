"""What a planner would do about a snapshot: the same steps as in the cycle, without a memory and without acting."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from streamjob_operator.offline.snapshot_file import Moment
from streamjob_operator.spec import Application, Executors, StreamJob
from streamjob_operator.spec.job import Metadata, Spec
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.steps.need import Need, Situation, UtilizationRule, speedup
from streamjob_operator.steps.solve import make_solver
from streamjob_operator.values import Memory
from streamjob_planners import bound
from streamjob_planners.model import Clock, LoadModel, Plan, PlanParams
from streamjob_planners.verify import Violation, verify

MAX_BOUND_CELLS = 2e9
"""Nodes times key groups up to which a bound is worked out for a plan that brings none: some seconds."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A plan with all that a person needs to judge it.

    Attributes:
        model, params: what was planned on, and the policy it was planned under.
        violations: what the independent judge objects to.
        lower_bound: proven lower bound on the load distance under the budget, percent points; None for huge models.
        need: executors that the scaling rule would ask for once the plan has been carried out.
        batch_s: mean duration of a batch as measured, None without batches; `batch_after_s` is expected after the plan.
    """

    model: LoadModel
    params: PlanParams
    plan: Plan
    violations: tuple[Violation, ...]
    lower_bound: float | None
    need: Need
    batch_s: float | None
    batch_after_s: float | None

    @property
    def gap(self) -> float | None:
        """Percent points of load distance that a better plan could gain at most."""
        if self.lower_bound is None:
            return None
        return max(0.0, self.plan.after.load_distance - self.lower_bound)


def default_job() -> StreamJob:
    """The policy that holds when nobody gives one: the defaults of every field."""
    spec = Spec(application=Application(main_file="offline.py"), executors=Executors(min=1, max=10_000))
    return StreamJob(
        api_version="streamjob.dev/v1alpha1", kind="StreamJob", metadata=Metadata(name="offline"), spec=spec
    )


def propose(moment: Moment, job: StreamJob, seed: int, clock: Clock = time.monotonic) -> Proposal:
    """Plan on a snapshot. Raises ValueError on a snapshot that makes no load model, Hold when the planner fails."""
    snapshot, memory = moment.snapshot, Memory(marked=moment.marked, remote_reads=moment.remote_reads)
    seen = estimate(snapshot, memory, collocate=job.spec.balancing.collocation.enabled)
    solver = make_solver(job, np.random.default_rng(seed), clock)
    plan = solver.solve(seen.model)
    situation = Situation(job=job, snapshot=snapshot, estimate=seen, plan=plan)
    batch_s = snapshot.rates.mean_batch_s if snapshot.rates.batches else None
    return Proposal(
        model=seen.model,
        params=solver.params,
        plan=plan,
        violations=verify(seen.model, plan, solver.params),
        lower_bound=_lower_bound(seen.model, solver.params, plan),
        need=UtilizationRule().need(situation),
        batch_s=batch_s,
        batch_after_s=None if batch_s is None else batch_s / speedup(situation),
    )


def _lower_bound(model: LoadModel, params: PlanParams, plan: Plan) -> float | None:
    if plan.lower_bound is not None:
        return plan.lower_bound
    if float(model.n_nodes) * model.n_groups > MAX_BOUND_CELLS:
        return None
    return bound.lower_bound(model, params)
