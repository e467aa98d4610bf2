"""Read the world, and say when what was read is not enough to act on."""

from __future__ import annotations

import numpy as np

from streamjob_operator.ports import Ended, Incomplete, MetricsSource, Stale, Unavailable
from streamjob_operator.spec import StreamJob
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.values import Hold, Memory, Reason, Snapshot

WARM_UP_RATIO = 0.95
"""Part of the statistics period that must be over: cycles are not punctual to the millisecond."""


def observe(metrics: MetricsSource, job: StreamJob, now_s: float) -> Snapshot:
    """Measurements over the statistics period; raises Hold when there are none that may be used."""
    try:
        snapshot = metrics.observe(now_s, job.spec.balancing.statistics_period_s)
    except Ended as error:
        raise Hold(Reason.QUERY_ENDED, str(error)) from error
    except Unavailable as error:
        raise Hold(Reason.METRICS_UNAVAILABLE, str(error)) from error
    except Stale as error:
        raise Hold(Reason.METRICS_STALE, str(error)) from error
    except Incomplete as error:
        raise Hold(Reason.METRICS_INCOMPLETE, str(error)) from error
    age_s, limit_s = now_s - snapshot.taken_at_s, stale_after_s(job, snapshot)
    if age_s > limit_s:
        message = (
            f"The newest measurement is {format_duration(round(age_s, 1))} old, {format_duration(limit_s)} allowed."
        )
        raise Hold(Reason.METRICS_STALE, message)
    return snapshot


def stale_after_s(job: StreamJob, snapshot: Snapshot) -> float:
    """Age from which measurements are not acted on; a job with long batches is allowed two of these."""
    stated = job.spec.metrics.stale_after_s
    if stated is not None:
        return stated
    return max(3 * job.spec.balancing.statistics_period_s, round(2 * snapshot.rates.mean_batch_s, 1))


def check(snapshot: Snapshot, memory: Memory, job: StreamJob, now_s: float) -> None:
    """Raises Hold while the measurements are too few: no move, no scaling is based on them."""
    period_s = job.spec.balancing.statistics_period_s
    if memory.first_seen_s is None or now_s - memory.first_seen_s < WARM_UP_RATIO * period_s:
        raise Hold(Reason.WARMING_UP, f"The first statistics period of {format_duration(period_s)} is not over.")
    if memory.acted_at_s is not None and snapshot.taken_at_s < memory.acted_at_s:
        raise Hold(Reason.SETTLING, "No batch has been measured since the last decision was carried out.")
    if not any(executor.state == "ready" for executor in snapshot.executors):
        raise Hold(Reason.METRICS_INCOMPLETE, "No executor is ready.")
    if not snapshot.group_ids:
        raise Hold(Reason.METRICS_INCOMPLETE, "No key group has been seen: the query has no state, or no batch yet.")
    if snapshot.rates.batches == 0 and snapshot.rates.idle_since_s is None:
        message = f"No batch has ended within {format_duration(round(snapshot.window_s, 1))}, and none is waited for."
        raise Hold(Reason.METRICS_INCOMPLETE, message)
    if len(snapshot.group_ids) < memory.groups_seen:
        message = f"{len(snapshot.group_ids)} of {memory.groups_seen} key groups are in the measurements."
        raise Hold(Reason.METRICS_INCOMPLETE, message)
    if snapshot.rates.idle_since_s is None:
        _check_coverage(snapshot, job.spec.metrics.min_coverage)


def _check_coverage(snapshot: Snapshot, wanted_pct: float) -> None:
    measured = int(np.count_nonzero((snapshot.busy_s > 0) | (snapshot.records > 0)))
    total = len(snapshot.group_ids)
    if 100.0 * measured < wanted_pct * total:
        message = f"{measured} of {total} key groups were measured, {wanted_pct:g} percent are needed."
        raise Hold(Reason.METRICS_INCOMPLETE, message)
