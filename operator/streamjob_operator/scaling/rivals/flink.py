"""The autoscaler of the Flink Kubernetes Operator, with its defaults.

Source: apache/flink-kubernetes-operator 1.16-SNAPSHOT at commit 6e9caeb, flink-autoscaler: JobVertexScaler
(`computeScaleTargetParallelism`, `detectBlockScaling`), ScalingMetricEvaluator (`computeTargetDataRate`,
`computeTrueProcessingRate`, `computeProcessingRateThresholds`), AutoScalerUtils (`getTargetProcessingCapacity`),
DelayedScaleDown, AutoScalerOptions.

The query is one source vertex whose subtasks are executors. It is busy, by the default aggregator MAX, while a batch
runs: the busiest slot is. An executor that comes stands for a restart: metrics are then dropped, left out for the
stabilization interval, and gathered for a whole window. Parallelism is not aligned with key groups or partitions, which
any number of executors can share here.
"""

from __future__ import annotations

import dataclasses

from streamjob_operator.scaling.rivals import flink_capacity as capacity
from streamjob_operator.scaling.rivals.flink_delay import Delayed, delayed
from streamjob_operator.scaling.rule import Situation, State, Wish, kept, recalled

MOST_SAMPLES = 60


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Metrics since the newest restart, what a scale-down waits for, and what the newest scale-up promised."""

    executors: int = 0
    restarted_at_s: float | None = None
    samples: tuple[capacity.Sample, ...] = ()
    delay: Delayed = dataclasses.field(default_factory=Delayed)
    promised: tuple[float, float] | None = None


class FlinkRule:
    """Capacity for what arrives at the target utilisation, for the backlog, and for a restart.

    `detects` turns scaling.effectiveness.detection on, which is off by default.
    """

    name = "flink"

    def __init__(self, detects: bool = False) -> None:
        self._detects = detects

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """The new parallelism, or the one there is."""
        sight, wanted = _collected(recalled(Sight, state), situation), situation.fleet.wanted
        evaluated = capacity.evaluate(sight.samples)
        if evaluated is None or not _full(sight, situation.now_s):
            why = f"metrics are gathered for {capacity.WINDOW_S:g} s first"
            return Wish(executors=wanted, needed=wanted, why=why), kept(sight)
        wishes = capacity.parallelism(wanted, evaluated.target(capacity.UTILIZATION, restart=True), evaluated.true_rps)
        executors, sight = self._blocked(sight, evaluated, wanted, wishes, situation.now_s)
        why = f"{evaluated.arriving_rps:.0f} rows/s arrive, {evaluated.true_rps:.0f} rows/s can be taken"
        held = "its utilisation is within bounds, or its scale-down interval lasts, or scaling up did not help"
        return Wish(executors=executors, needed=wishes, why=why, held=held), kept(sight)

    def _blocked(
        self, sight: Sight, evaluated: capacity.Evaluated, wanted: int, wishes: int, now_s: float
    ) -> tuple[int, Sight]:
        """What is left of a wish after bounds of utilisation, the scale-down interval, and ineffective scalings."""
        if wishes == wanted:
            return wanted, dataclasses.replace(sight, delay=Delayed())
        outside = evaluated.outside
        if wishes < wanted:
            executors, outside, delay = delayed(sight.delay, wanted, wishes, outside, now_s)
            return (executors if outside else wanted), dataclasses.replace(sight, delay=delay)
        sight = dataclasses.replace(sight, delay=Delayed())
        if self._detects and capacity.ineffective(sight.promised, evaluated.true_rps):
            return wanted, sight
        if not outside:
            return wanted, sight
        promised = (evaluated.true_rps, evaluated.true_rps / wanted * wishes)
        return wishes, dataclasses.replace(sight, promised=promised)


def _collected(before: Sight, situation: Situation) -> Sight:
    """The samples of this restart; those from before the window are dropped."""
    fleet, now_s = situation.fleet, situation.now_s
    if before.restarted_at_s is None or before.executors != fleet.wanted or fleet.ready < fleet.wanted:
        return Sight(executors=fleet.wanted, restarted_at_s=now_s, promised=before.promised)
    if now_s < before.restarted_at_s + capacity.STABILIZATION_S:
        return before
    recent = tuple(one for one in before.samples if one.at_s > now_s - capacity.WINDOW_S)
    samples = (*recent, capacity.sample(situation))
    return dataclasses.replace(before, samples=_thinned(samples))


def _thinned(samples: tuple[capacity.Sample, ...]) -> tuple[capacity.Sample, ...]:
    """At most MOST_SAMPLES: every second one where cycles are short."""
    return samples if len(samples) <= MOST_SAMPLES else (*samples[:-1:2], samples[-1])


def _full(sight: Sight, now_s: float) -> bool:
    since_s = (sight.restarted_at_s or now_s) + capacity.STABILIZATION_S
    return now_s >= since_s + capacity.WINDOW_S
