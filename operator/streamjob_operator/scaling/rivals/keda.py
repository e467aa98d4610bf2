"""KEDA on the lag of a source: a ScaledObject that feeds a HorizontalPodAutoscaler.

Sources: kedacore/keda v2.20, pkg/scalers/apache_kafka_scaler.go (lagThreshold, activationLagThreshold 0, the total
capped at lagThreshold for each partition) and pkg/scaling/executor/scale_scaledobjects.go (cooldownPeriod);
kubernetes/kubernetes pkg/controller/podautoscaler/replica_calculator.go, `GetExternalPerPodMetricReplicas`, for an
averageValue. A job cannot run without executors, so min is at least 1: as in KEDA with a minReplicaCount above 0, the
trigger's activation and the cooldownPeriod of 300 s have no effect.
"""

from __future__ import annotations

import math

from streamjob_operator.scaling.rivals.hpa import TOLERANCE, follow
from streamjob_operator.scaling.rivals.hpa_behavior import Behavior
from streamjob_operator.scaling.rule import Situation, State, Wish


class KedaRule:
    """Replicas so that at most lagThreshold rows wait for each; polled and followed once in each cycle."""

    name = "keda"

    def __init__(self, behavior: Behavior | None = None) -> None:
        self._behavior = Behavior() if behavior is None else behavior

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """As the HorizontalPodAutoscaler that KEDA made would decide; without a lag nothing changes."""
        lag, threshold = situation.snapshot.rates.lag_rows, situation.job.spec.scaling.lag_threshold
        current = situation.fleet.wanted
        if lag is None:
            return follow(situation, state, self._behavior, current, "the source tells no lag")
        desired = replicas(lag, threshold, current, len(situation.snapshot.group_ids))
        why = f"{lag:.0f} rows wait, {threshold:g} may for each executor"
        return follow(situation, state, self._behavior, desired, why)


def replicas(lag: float, threshold: float, current: int, partitions: int) -> int:
    """Desired replicas for a lag; more than `partitions` are never asked for, as there would be idle consumers."""
    total = min(lag, threshold * partitions)
    ratio = total / (threshold * max(current, 1))
    return current if abs(1.0 - ratio) <= TOLERANCE else math.ceil(total / threshold)
