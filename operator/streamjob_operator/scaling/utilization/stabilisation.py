"""How long a need must last before it is followed: the smallest of a window upwards, the largest of one downwards."""

from __future__ import annotations

import dataclasses

from streamjob_operator.scaling.rule import clamp
from streamjob_operator.spec import StreamJob
from streamjob_operator.spec.quantities import format_duration

HOLE_PERIODS = 1.5
"""Statistics periods without a recommendation from which cycles were missing: down, or without measurements."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """One earlier need, within the bounds of that time; `at_s` is the moment that its measurement speaks of.

    `since_s`: it rests on what was measured since then, where that is less than a statistics period: load had changed.
    """

    at_s: float
    executors: int
    since_s: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The needs of the longest window and one from before it, in the order of time."""

    recommendations: tuple[Recommendation, ...] = ()


def recommend(history: History, needed: int, job: StreamJob, at_s: float, since_s: float | None = None) -> History:
    """Earlier recommendations and this one; of those older than the longest window only the newest is kept.

    A second recommendation from the same measurement takes the place of the first.
    """
    window_s = max(job.spec.scaling.stabilization.up_s, job.spec.scaling.stabilization.down_s)
    earlier = (one for one in history.recommendations if one.at_s != at_s)
    every = (*earlier, Recommendation(at_s=at_s, executors=clamp(needed, job), since_s=since_s))
    older = [one for one in every if one.at_s <= at_s - window_s and one is not every[-1]]
    recent = (one for one in every if one.at_s > at_s - window_s or one is every[-1])
    return History(recommendations=(*older[-1:], *recent))


def stabilised(history: History, wanted: int, job: StreamJob, at_s: float) -> tuple[int, int]:
    """Smallest recommendation of the window upwards, largest of the window downwards; the newest one is of `at_s`.

    Until the history covers a window, what is there now counts as a recommendation of that time; what was measured
    since a change of load covers no time before it.
    """
    stabilization, every = job.spec.scaling.stabilization, history.recommendations
    now = clamp(wanted, job)
    hole_s = HOLE_PERIODS * job.spec.balancing.statistics_period_s

    def window(length_s: float) -> list[int]:
        recent = [one for one in every if one.at_s > at_s - length_s] or [every[-1]]
        wishes = [one.executors for one in recent]
        before = [one.executors for one in every if one.at_s <= at_s - length_s][-1:]
        part = recent[0].since_s is not None and recent[0].since_s > at_s - length_s
        if length_s == 0 or (before and not part and recent[0].at_s <= at_s - length_s + hole_s):
            return wishes
        # Nothing was measured when the window began: what was wished, or there, before that time counts on.
        return [*wishes, *(before or [now])]

    return min(window(stabilization.up_s)), max(window(stabilization.down_s))


def waiting(upwards: bool, job: StreamJob) -> str:
    """What a person is told of a need that is not followed yet."""
    stabilization = job.spec.scaling.stabilization
    return f"waiting until that has held {format_duration(stabilization.up_s if upwards else stabilization.down_s)}"
