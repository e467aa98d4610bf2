"""What a planner would do about a snapshot: the same steps as in the cycle, without a memory and without acting."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from streamjob_operator.offline.snapshot_file import Moment
from streamjob_operator.scaling import registry
from streamjob_operator.scaling.rule import Situation, Wish
from streamjob_operator.spec import Application, Executors, StreamJob
from streamjob_operator.spec.job import Metadata, Spec
from streamjob_operator.steps.batching import learn_batches
from streamjob_operator.steps.boundary import allowance_s, in_waves
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.steps.scale import ask, fleet
from streamjob_operator.steps.solve import make_solver
from streamjob_operator.values import Memory
from streamjob_planners.model import Clock, LoadModel, Plan, PlanParams
from streamjob_planners.verify import Violation, verify


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A plan with all that a person needs to judge it.

    Attributes:
        model, params: what was planned on, and the policy it was planned under.
        violations: what the independent judge objects to.
        wish: executors that the scaling rule, without a memory, would ask for once the plan has been carried out.
        batch_s: mean duration of a batch as measured, None without batches.
        cost_s: seconds that batches take longer while the plan is carried out, once; `boundary_s`: what of it one batch
            may take.
    """

    model: LoadModel
    params: PlanParams
    plan: Plan
    violations: tuple[Violation, ...]
    wish: Wish
    batch_s: float | None
    cost_s: float
    boundary_s: float


def default_job() -> StreamJob:
    """The policy that holds when nobody gives one: the defaults of every field."""
    spec = Spec(application=Application(main_file="offline.py"), executors=Executors(min=1, max=10_000))
    return StreamJob(
        api_version="streamjob.dev/v1alpha1", kind="StreamJob", metadata=Metadata(name="offline"), spec=spec
    )


def with_balancing(job: StreamJob, **changes: object) -> StreamJob:
    """The job with other fields of its balancing policy, which are not validated again."""
    balancing = job.spec.balancing.model_copy(update=changes)
    return job.model_copy(update={"spec": job.spec.model_copy(update={"balancing": balancing})})


def with_rule(job: StreamJob, rule: str) -> StreamJob:
    """The job with another scaling rule, which is not validated again."""
    scaling = job.spec.scaling.model_copy(update={"rule": rule})
    return job.model_copy(update={"spec": job.spec.model_copy(update={"scaling": scaling})})


def propose(moment: Moment, job: StreamJob, seed: int, clock: Clock = time.monotonic) -> Proposal:
    """Plan on a snapshot. Raises ValueError on a snapshot that makes no load model, Hold when the planner fails."""
    snapshot = moment.snapshot
    memory = learn_batches(Memory(marked=moment.marked, remote_reads=moment.remote_reads), snapshot)
    balancing = job.spec.balancing
    seen = estimate(snapshot, memory, collocate=balancing.collocation.enabled, pinned=balancing.pinned_operators)
    solver = make_solver(job, np.random.default_rng(seed), clock)
    plan = solver.solve(seen.model)
    situation = Situation(
        job=job,
        snapshot=snapshot,
        estimate=seen,
        plan=plan,
        fleet=fleet(snapshot, memory),
        now_s=snapshot.taken_at_s,
        memory=memory,
    )
    batch_s = snapshot.rates.mean_batch_s if snapshot.rates.batches else None
    budget = job.spec.balancing.migration_budget
    plan, costs_s = in_waves(seen.model, plan, budget)
    return Proposal(
        model=seen.model,
        params=solver.params,
        plan=plan,
        violations=verify(seen.model, plan, solver.params),
        wish=ask(registry.get(job.spec.scaling.rule), situation)[0],
        batch_s=batch_s,
        cost_s=sum(costs_s),
        boundary_s=allowance_s(budget, plan.before.expected_s or snapshot.rates.mean_batch_s),
    )
