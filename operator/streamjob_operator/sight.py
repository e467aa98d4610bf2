"""What can be seen of a job whose measurements are missing: who is there, where key groups are.

It comes by another way than measurements: on a cluster the agent writes it into the PartitionMap, whatever becomes of
Prometheus.
"""

from __future__ import annotations

import dataclasses

from streamjob_operator.observed import QueryRates, Snapshot


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Longer:
    """Batches that take longer than usual: how many times as long, and when the newest of them ended, seconds since
    1970 by the driver's clock."""

    ratio: float
    ended_at_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A snapshot without any figure of work: every key group counts like any other.

    `awaiting` are moves to executors that were still to come at the last batch boundary; `longer` None: batches take
    what is usual.
    """

    snapshot: Snapshot
    awaiting: int = 0
    longer: Longer | None = None


def resting(now_s: float) -> QueryRates:
    """Rates of a query of which nothing is known, as of one that waits for data."""
    return QueryRates(
        batches=0,
        mean_batch_s=0.0,
        last_batch_s=0.0,
        last_batch_at_s=now_s,
        trigger_interval_s=None,
        input_rps=0.0,
        processed_rps=0.0,
        lag_rows=None,
        other_busy_s=0.0,
        idle_since_s=now_s,
    )
