"""A job that falls behind: what moves cost once is no reason to leave it as it is.

What they add to one batch spreads them as ever. While rows wait at all, a gain must be more than noise makes in the
mean, not more than it hardly ever makes.
"""

from __future__ import annotations

import dataclasses

from streamjob_operator.observed import BATCHES_IN_LAG
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.estimate import Estimate
from streamjob_operator.steps.solve import Solver
from streamjob_operator.values import Reason, Verdict

CATCHES_UP = 0.95
"""Rows that arrive over rows that are taken, up to which a backlog gets smaller by itself."""
PAYBACK_BATCHES = 1_000_000.0
"""Batches within which moves must pay for themselves then: the longest that a job may state."""
TOLD = "The job falls behind, so what moves cost once counts for nothing."


def falls_behind(seen: Estimate) -> bool:
    """Whether rows wait, or batches take longer than their trigger, and neither is getting better by itself."""
    return is_behind(seen) and seen.growth_ratio > CATCHES_UP


def is_behind(seen: Estimate) -> bool:
    """Whether more rows wait than come during a batch and a half, or batches take longer than their trigger."""
    rates = seen.recent.rates
    no_backlog = BATCHES_IN_LAG * rates.mean_batch_s * rates.input_rps
    waits = (rates.waiting_rows or 0.0) > no_backlog
    overruns = rates.trigger_interval_s is not None and rates.mean_batch_s > rates.trigger_interval_s
    return waits or overruns


def in_a_hurry(job: StreamJob, solver: Solver) -> tuple[StreamJob, Solver]:
    """Both with all the time in the world for moves to pay for themselves."""
    balancing = job.spec.balancing.model_copy(update={"payback_batches": PAYBACK_BATCHES})
    spec = job.spec.model_copy(update={"balancing": balancing})
    params = dataclasses.replace(solver.params, payback_batches=PAYBACK_BATCHES)
    return job.model_copy(update={"spec": spec}), dataclasses.replace(solver, params=params)


def told(verdict: Verdict) -> Verdict:
    """With a sentence where moves are made to shorten batches."""
    if not verdict.act or verdict.reason is not Reason.BATCH_TIME:
        return verdict
    return dataclasses.replace(verdict, message=f"{verdict.message} {TOLD}")
