"""Executors that have become slower or faster than the others, seen by their own key groups.

A key group's part of its operator's seconds is known from earlier windows. Where the parts of all groups of one
executor have grown by one and the same factor, and those of the others have not, the executor works slower: load does
not grow by one factor on one executor alone. (`speed` compares executors through groups that several of them ran; a
job whose groups stay where they are has none.) A factor counts once it was seen in two windows on end and is more than
chance explains; from then on it is followed, and forgotten when it is near 1 again.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray, median

LEAST_FACTOR = 1.25
"""A smaller difference is nothing to plan by."""
NEAR_FACTOR = 1.1
"""A speed nearer to 1 than this counts as 1 again."""
SURE = 5.0
"""Standard errors that a factor must be away from 1; a fleet is looked at every period for years."""
SURE_KNOWN = 3.0
"""The same for an executor that is known to be slow or fast: that it recovers is to be expected."""
NOTICED = 2.0
"""Standard errors from which a window counts among those on end."""
HELD = 6
"""Windows on end that are noticed and teach nothing of key groups, or they would teach the slow executor's seconds as
their load: about as many make sure what is just noticed, (SURE / NOTICED) squared."""
FEWEST_EXECUTORS = 3
"""Executors from which on a window is held back for what is just noticed: of two, load that has moved from one to the
other looks like a slow one, and nobody is to wait for it."""
FEWEST_GROUPS = 3
"""Key groups that must agree before an executor counts as slow; back to normal one is enough."""
WINDOWS = 2
"""Windows on end in which it must be seen: one may be a pause."""
INTERVAL = 2.0
"""Standard errors on each side of an interval: nineteen of twenty."""
MEDIAN_COST = math.pi / 2.0
"""Variance of a median over that of a mean."""
DRIFT = 0.02
"""Variance, in logarithms, that a followed speed gains from window to window."""
FADES = 0.8
"""What is left of the logarithm of a speed after a window without a key group to see it by."""
_MAD = 1.4826


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Speed of one executor; 1.0 is that of most. Logarithms are natural ones.

    Attributes:
        speed: what to plan with, above 0; `low` to `high` is its interval.
        error: standard error of its logarithm.
        off: logarithm of how many times longer tasks took than `speed` says, mean of the newest windows on one side.
        windows: how many these are.
        past: earlier speeds, each as (until when, speed), oldest first; as far back as batches are told.
    """

    speed: float = 1.0
    error: float = 0.0
    off: float = 0.0
    windows: int = 0
    past: tuple[tuple[float, float], ...] = ()

    @property
    def since_s(self) -> float | None:
        """When it came to its speed; None where no batch told."""
        return self.past[-1][0] if self.past else None

    @property
    def before(self) -> Pace:
        """What it was until then."""
        return Pace(speed=self.past[-1][1], past=self.past[:-1]) if self.past else Pace()

    def at(self, at_s: FloatArray) -> FloatArray:
        """The speed at these times."""
        speed = np.full(at_s.shape, self.speed)
        for until_s, earlier in reversed(self.past):
            speed[at_s < until_s] = earlier
        return speed

    def told_since(self, oldest_s: float) -> Pace:
        """Without the speeds of before the oldest batch that is told."""
        return dataclasses.replace(self, past=tuple(one for one in self.past if one[0] > oldest_s))

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.speed * math.exp(-INTERVAL * self.error)

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.speed * math.exp(INTERVAL * self.error)


def turned_at_s(paces: Mapping[str, Pace]) -> tuple[float, ...]:
    """When executors came to speeds that they have, or have had as far back as batches are told."""
    return tuple(at_s for one in paces.values() for at_s, _ in one.past)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one window shows of groups whose usual part is known; all (n_groups,).

    Attributes:
        executor: index of each group's executor.
        off: logarithm of its part of the operator's seconds over the usual one, both at the speed known so far.
        sample_variance: variance of `off` from this window's chance.
        base_variance: variance of `off` from what is not known of the usual part.
    """

    executor: IntArray
    off: FloatArray
    sample_variance: FloatArray
    base_variance: FloatArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Paces:
    """The executors' paces by id, those at 1.0 without a suspicion left out.

    `suspected`: some executor was off in the newest windows, HELD at most, and it is not sure yet, so that what the
    window says of key groups may be the executor's doing.
    """

    by_executor: Mapping[str, Pace]
    suspected: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Off:
    """One executor in one window, against most: difference of logarithms, its two variances, and its groups."""

    value: float
    sample: float
    base: float
    groups: int

    def error(self, windows: int) -> float:
        return math.sqrt(self.sample / windows + self.base)


def with_window(before: Mapping[str, Pace], names: tuple[str, ...], seen: Seen) -> Paces:
    """The paces after one more window; `names` are the executors by index. Executors that are gone are forgotten."""
    found = _offs(seen, len(names))
    after = {name: _next(before.get(name, Pace()), found[at]) for at, name in enumerate(names)}
    compared = sum(off is not None for off in found)
    suspected = any(
        off is not None and _suspicious(after[name], off, compared) for name, off in zip(names, found, strict=True)
    )
    kept = {name: pace for name, pace in _centred(after).items() if pace != Pace()}
    return Paces(by_executor=kept, suspected=suspected)


def faded(pace: Pace) -> Pace:
    """The pace of an executor that ran nothing in a window: it is believed to recover."""
    return _settled(dataclasses.replace(pace, speed=pace.speed**FADES, off=0.0, windows=0))


def turned(pace: Pace, slower: float, error: float, since_s: float) -> Pace:
    """The pace of one whose tasks take exp(`slower`) times as long from a moment on.

    Who recovers is as the others, unless it is far from that for sure.
    """
    speed = pace.speed * math.exp(-slower)
    recovers = (speed > pace.speed) == (pace.speed < 1.0) and pace.speed != 1.0
    if recovers and ((speed > 1.0) != (pace.speed > 1.0) or abs(math.log(speed)) < INTERVAL * error):
        speed = 1.0
    return _settled(Pace(speed=speed, error=error, past=(*pace.past, (since_s, pace.speed))))


def _suspicious(pace: Pace, off: _Off, compared: int) -> bool:
    """Whether this window may speak of the executor, one of so many, and not of its key groups, and nothing is known of
    it yet."""
    if pace.windows == 1 and abs(off.value) > max(math.log(LEAST_FACTOR), SURE * off.error(1)):
        return True
    if compared < FEWEST_EXECUTORS:
        return False
    may_count = off.groups >= FEWEST_GROUPS or pace.speed != 1.0
    return may_count and 0 < pace.windows <= HELD and abs(off.value) > math.log(LEAST_FACTOR)


def _offs(seen: Seen, n: int) -> list[_Off | None]:
    """Each executor's median against that of most; None without a group."""
    count = np.bincount(seen.executor, minlength=n)
    medians = np.array([median(seen.off[seen.executor == at]) if count[at] else np.nan for at in range(n)])
    used = np.flatnonzero(count)
    if used.size == 0:
        return [None] * n
    usual = _usual(medians[used], count[used])
    alone = {at: _off(seen, at, float(medians[at]) - usual) for at in used.tolist()}
    cost = MEDIAN_COST / used.size
    sample, base = (
        cost * float(np.mean([getattr(one, name) for one in alone.values()])) for name in ("sample", "base")
    )
    return [
        dataclasses.replace(alone[at], sample=alone[at].sample + sample, base=alone[at].base + base)
        if at in alone
        else None
        for at in range(n)
    ]


def _off(seen: Seen, executor: int, value: float) -> _Off:
    mine = seen.executor == executor
    n, off = int(mine.sum()), seen.off[mine]
    scatter = _MAD * float(median(np.abs(off - median(off)))) if n >= FEWEST_GROUPS else 0.0
    sample = max(float(seen.sample_variance[mine].mean()), scatter**2)
    cost = MEDIAN_COST if n > 2 else 1.0
    return _Off(value=value, sample=cost * sample / n, base=cost * float(seen.base_variance[mine].mean()) / n, groups=n)


def _usual(values: FloatArray, count: IntArray) -> float:
    """Median, each value counting as often as its executor has groups. Of two executors the faster one is the usual."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(count[order]) / float(count.sum())
    low, high = (values[order][np.searchsorted(reached, part)] for part in (0.5 - 1e-9, 0.5 + 1e-9))
    return float(low if values.size == 2 else (low + high) / 2.0)


def _next(pace: Pace, off: _Off | None) -> Pace:
    if off is None:
        return faded(pace)
    mean, windows = _on_end(pace, off)
    sure = SURE if pace.speed == 1.0 else SURE_KNOWN
    far = windows > 0 and abs(mean) > max(math.log(LEAST_FACTOR), sure * off.error(windows))
    if far and windows >= WINDOWS and (off.groups >= FEWEST_GROUPS or pace.speed != 1.0):
        newest = abs(off.value) > SURE * off.error(1)
        value, error = (off.value, off.error(1)) if newest else (mean, off.error(windows))
        return _settled(Pace(speed=pace.speed * math.exp(-value), error=error))
    if pace.speed != 1.0 and not far:
        return _followed(pace, off, mean, windows)
    return dataclasses.replace(pace, off=mean, windows=windows)


def _on_end(pace: Pace, off: _Off) -> tuple[float, int]:
    """Mean of the windows on end on one side of 0, this one included, and how many; none where it is near 0."""
    if abs(off.value) <= NOTICED * off.error(1):
        return 0.0, 0
    if pace.off * off.value <= 0:
        return off.value, 1
    return (pace.off * pace.windows + off.value) / (pace.windows + 1), pace.windows + 1


def _followed(pace: Pace, off: _Off, mean: float, windows: int) -> Pace:
    """A known speed a little nearer to what this window shows, by how sure both are."""
    variance = pace.error**2 + DRIFT
    part = variance / (variance + off.error(1) ** 2)
    speed, error = pace.speed * math.exp(-part * off.value), math.sqrt((1.0 - part) * variance)
    return _settled(Pace(speed=speed, error=error, off=mean * (1.0 - part), windows=windows))


def _settled(pace: Pace) -> Pace:
    """At 1.0 again where it is near that."""
    near = abs(math.log(pace.speed)) < math.log(NEAR_FACTOR)
    return Pace(past=pace.past) if near else pace


def _centred(paces: Mapping[str, Pace]) -> dict[str, Pace]:
    """Speeds relative to that of most, the upper one of two halves: what all have in common is no difference."""
    if not paces:
        return {}
    ordered = sorted(one.speed for one in paces.values())
    usual = ordered[len(ordered) // 2]
    if usual == 1.0:
        return dict(paces)
    return {name: _settled(dataclasses.replace(one, speed=one.speed / usual)) for name, one in paces.items()}
