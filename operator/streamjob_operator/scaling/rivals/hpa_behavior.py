"""Stabilisation windows and scaling policies of a HorizontalPodAutoscaler with a behavior.

Source: kubernetes/kubernetes pkg/controller/podautoscaler/horizontal.go, `stabilizeRecommendationWithBehaviors`,
`convertDesiredReplicasWithBehaviorRate`, `calculateScaleUpLimitWithScalingRules`,
`calculateScaleDownLimitWithBehaviors`, at commit 0006726; defaults of pkg/apis/autoscaling/v2/defaults.go.
"""

from __future__ import annotations

import dataclasses
import math

Stamped = tuple[float, int]
"""A moment, seconds since the epoch, and a number of executors."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """At most `value` pods, or percent of them, within a period."""

    value: int
    period_s: float
    percent: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Behavior:
    """Of policies the one that allows most counts, as is the default."""

    up: tuple[Policy, ...] = (
        Policy(value=4, period_s=15.0, percent=False),
        Policy(value=100, period_s=15.0, percent=True),
    )
    down: tuple[Policy, ...] = (Policy(value=100, period_s=15.0, percent=True),)
    up_window_s: float = 0.0
    down_window_s: float = 300.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Earlier recommendations within the longer window, and changes within the longest period, up and down."""

    recommendations: tuple[Stamped, ...] = ()
    ups: tuple[Stamped, ...] = ()
    downs: tuple[Stamped, ...] = ()


def normalised(
    behavior: Behavior, history: History, current: int, desired: int, bounds: tuple[int, int], now_s: float
) -> tuple[int, History]:
    """The replicas that are set, and what is remembered; `bounds` are the fewest and the most."""
    stable = _stabilised(behavior, history, current, desired, now_s)
    replicas = _limited(behavior, history, current, stable, bounds, now_s)
    return replicas, _remembered(behavior, history, current, desired, replicas, now_s)


def _stabilised(behavior: Behavior, history: History, current: int, desired: int, now_s: float) -> int:
    """Smallest recommendation of the window upwards, largest of it downwards, this one included."""
    upwards = desired >= current
    cutoff_s = now_s - (behavior.up_window_s if upwards else behavior.down_window_s)
    recent = [replicas for at_s, replicas in history.recommendations if at_s > cutoff_s]
    return min([*recent, desired]) if upwards else max([*recent, desired])


def _limited(
    behavior: Behavior, history: History, current: int, desired: int, bounds: tuple[int, int], now_s: float
) -> int:
    fewest, most = bounds
    if desired > current:
        allowed = max((_up(one, history, current, now_s) for one in behavior.up), default=0)
        return min(desired, most, max(allowed, current))
    if desired < current:
        allowed = min((_down(one, history, current, now_s) for one in behavior.down), default=current)
        return max(desired, fewest, min(allowed, current))
    return desired


def _up(policy: Policy, history: History, current: int, now_s: float) -> int:
    start = current - _changed(history.ups, policy.period_s, now_s)
    return math.ceil(start * (1 + policy.value / 100)) if policy.percent else start + policy.value


def _down(policy: Policy, history: History, current: int, now_s: float) -> int:
    start = current + _changed(history.downs, policy.period_s, now_s)
    return int(start * (1 - policy.value / 100)) if policy.percent else start - policy.value


def _changed(events: tuple[Stamped, ...], period_s: float, now_s: float) -> int:
    return sum(change for at_s, change in events if at_s > now_s - period_s)


def _remembered(
    behavior: Behavior, history: History, current: int, desired: int, replicas: int, now_s: float
) -> History:
    window_s = max(behavior.up_window_s, behavior.down_window_s)
    recommendations = (*(one for one in history.recommendations if one[0] > now_s - window_s), (now_s, desired))
    change = replicas - current
    return History(
        recommendations=recommendations,
        ups=_within(behavior.up, history.ups, (now_s, change), change > 0),
        downs=_within(behavior.down, history.downs, (now_s, -change), change < 0),
    )


def _within(
    policies: tuple[Policy, ...], events: tuple[Stamped, ...], event: Stamped, happened: bool
) -> tuple[Stamped, ...]:
    longest_s = max((one.period_s for one in policies), default=0.0)
    recent = tuple(one for one in events if one[0] > event[0] - longest_s)
    return (*recent, event) if happened else recent
