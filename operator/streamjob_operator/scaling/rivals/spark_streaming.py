"""Spark's dynamic allocation for DStreams: by how long batches take over their interval.

Source: apache/spark streaming/src/main/scala/org/apache/spark/streaming/scheduler/ExecutorAllocationManager.scala at
commit 062d4ae (`manageAllocation`, `requestExecutors`, `killExecutor`), with its defaults: scalingInterval 60 s,
scalingUpRatio 0.9, scalingDownRatio 0.3. A DStream's batch interval is a query's trigger interval here; without one
there is no ratio, and nothing changes. There are no receivers that an executor would have to stay for.
"""

from __future__ import annotations

import dataclasses
import math

from streamjob_operator.scaling.measured import working
from streamjob_operator.scaling.rule import Situation, State, Wish, kept, recalled

INTERVAL_S, UP_RATIO, DOWN_RATIO = 60.0, 0.9, 0.3


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """Batches since the last decision, at `since_s`: how many, and their seconds."""

    since_s: float | None = None
    count: int = 0
    total_s: float = 0.0


class SparkStreamingRule:
    """As many more executors as the ratio says, one fewer where batches are short; once a minute."""

    name = "spark-streaming"

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """A decision each minute, and the number that is wanted between two."""
        rates, wanted, now_s = situation.snapshot.rates, situation.fleet.wanted, situation.now_s
        before = recalled(Batches, state)
        seen = Batches(
            since_s=now_s if before.since_s is None else before.since_s,
            count=before.count + rates.batches,
            total_s=before.total_s + rates.batches * rates.mean_batch_s,
        )
        if now_s - (seen.since_s or 0.0) < INTERVAL_S:
            return Wish(executors=wanted, needed=wanted, why=f"it decides each {INTERVAL_S:g} s"), kept(seen)
        if not seen.count or not rates.trigger_interval_s:
            return Wish(executors=wanted, needed=wanted, why="no batch to go by"), kept(Batches(since_s=now_s))
        ratio = seen.total_s / seen.count / rates.trigger_interval_s
        executors = after(ratio, len(working(situation)), wanted)
        why = f"batches take {ratio:.2f} of their interval"
        return Wish(executors=executors, needed=executors, why=why), kept(Batches(since_s=now_s))


def after(ratio: float, there: int, wanted: int) -> int:
    """Executors for a ratio of batch time over interval; `wanted` where nothing changes."""
    if ratio >= UP_RATIO:
        return there + max(math.floor(ratio + 0.5), 1)
    return there - 1 if ratio <= DOWN_RATIO else wanted
