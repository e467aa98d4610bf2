"""How long a need must last before it is followed: the smallest of a window upwards, the largest of one downwards."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Sequence

from streamjob_operator.scaling.rule import clamp
from streamjob_operator.spec import StreamJob
from streamjob_operator.spec.quantities import format_duration

HOLE_PERIODS = 1.5
"""Statistics periods without a recommendation from which cycles were missing: down, or without measurements."""
PARTS = 50
"""Of a window, within which wishes are not told apart where there are many: a week of cycles a second apart would be
more than a status holds."""


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
    window_s = max(job.spec.scaling.stabilization.up_s, job.spec.scaling.stabilization.quiet_s)
    earlier = (one for one in history.recommendations if one.at_s != at_s)
    every = (*earlier, Recommendation(at_s=at_s, executors=clamp(needed, job), since_s=since_s))
    older = [one for one in every if one.at_s <= at_s - window_s and one is not every[-1]]
    recent = (one for one in every if one.at_s > at_s - window_s or one is every[-1])
    return History(recommendations=_thinned((*older[-1:], *recent), job, at_s))


def _thinned(every: Sequence[Recommendation], job: StreamJob, at_s: float) -> tuple[Recommendation, ...]:
    """Of each part of a window the first, the fewest and the most, which is all that is ever asked for."""
    stabilization = job.spec.scaling.stabilization
    windows_s = sorted(one for one in (stabilization.up_s, stabilization.quiet_s) if one > 0)
    if len(every) <= 2 * PARTS or not windows_s:
        return tuple(every)
    parts: dict[tuple[float, int], list[Recommendation]] = defaultdict(list)
    for one in every:
        window_s = next((length_s for length_s in windows_s if one.at_s > at_s - length_s), windows_s[-1])
        parts[window_s, math.floor(one.at_s / (window_s / PARTS))].append(one)
    return tuple(one for part in parts.values() for one in _told_apart(part))


def _told_apart(part: Sequence[Recommendation]) -> list[Recommendation]:
    """Of equal ones the newest, which stays in the window for longest."""
    fewest = max(part, key=lambda one: (-one.executors, one.at_s))
    most = max(part, key=lambda one: (one.executors, one.at_s))
    return [one for one in part if one is part[0] or one is fewest or one is most]


def stabilised(history: History, wanted: int, job: StreamJob, at_s: float) -> tuple[int, int]:
    """Smallest recommendation of the window upwards, largest of the window downwards; the newest one is of `at_s`.

    Until the history covers a window, what is there now counts as a recommendation of that time; what was measured
    since a change of load covers no time before it.
    """
    stabilization, every = job.spec.scaling.stabilization, history.recommendations
    now = clamp(wanted, job)
    period_s = job.spec.balancing.statistics_period_s

    def window(length_s: float) -> list[int]:
        hole_s = max(HOLE_PERIODS * period_s, 2 * length_s / PARTS)
        recent = [one for one in every if one.at_s > at_s - length_s] or [every[-1]]
        wishes = [one.executors for one in recent]
        before = [one.executors for one in every if one.at_s <= at_s - length_s][-1:]
        part = recent[0].since_s is not None and recent[0].since_s > at_s - length_s
        if length_s == 0 or (before and not part and recent[0].at_s <= at_s - length_s + hole_s):
            return wishes
        # Nothing was measured when the window began: what was wished, or there, before that time counts on.
        return [*wishes, *(before or [now])]

    return min(window(stabilization.up_s)), max(window(stabilization.quiet_s))


def waiting(upwards: bool, job: StreamJob) -> str:
    """What a person is told of a need that is not followed yet."""
    stabilization = job.spec.scaling.stabilization
    return f"waiting until that has held {format_duration(stabilization.up_s if upwards else stabilization.quiet_s)}"
