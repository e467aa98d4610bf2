"""The HorizontalPodAutoscaler, autoscaling/v2, on utilisation.

Source: kubernetes/kubernetes pkg/controller/podautoscaler/replica_calculator.go, `GetResourceReplicas`, at commit
0006726. It asks every 15 s; here it is asked once in each cycle. The metric is the share of busy task slots, which for
a job that is short of CPU is its CPU.
"""

from __future__ import annotations

import math

from streamjob_operator.scaling.measured import busy_pct, working
from streamjob_operator.scaling.rivals.hpa_behavior import Behavior, History, normalised
from streamjob_operator.scaling.rule import Situation, State, Wish, kept, recalled

TOLERANCE = 0.1


class HpaRule:
    """Replicas in proportion to utilisation over its target, with the default behavior."""

    name = "hpa"

    def __init__(self, behavior: Behavior | None = None) -> None:
        self._behavior = Behavior() if behavior is None else behavior

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """The replicas that the controller would write into the scale."""
        busy, target = busy_pct(situation), situation.job.spec.scaling.target_utilization
        ready = len(working(situation))
        desired = replicas(busy / target, ready, max(ready, situation.fleet.wanted))
        why = f"slots are busy to {busy:.0f} percent, {target:g} are aimed at"
        return follow(situation, state, self._behavior, desired, why)


def replicas(usage_ratio: float, ready: int, current: int) -> int:
    """Desired replicas; pods that are to come count as idle where usage asks for more."""
    if ready < current and usage_ratio > 1.0:
        usage_ratio *= ready / current
        if usage_ratio < 1.0:
            return current
        ready = current
    return current if abs(1.0 - usage_ratio) <= TOLERANCE else math.ceil(usage_ratio * ready)


def follow(situation: Situation, state: State | None, behavior: Behavior, desired: int, why: str) -> tuple[Wish, State]:
    """What the behavior makes of the desired replicas, as a wish."""
    bounds = (situation.job.spec.executors.min, situation.job.spec.executors.max)
    executors, history = normalised(
        behavior, recalled(History, state), situation.fleet.wanted, desired, bounds, situation.now_s
    )
    held = f"at most {executors} by the windows and policies of its behavior"
    return Wish(executors=executors, needed=desired, why=why, held=held), kept(history)
