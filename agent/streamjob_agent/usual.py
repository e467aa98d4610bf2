"""Whether a query's batches still take as long as they used to: what the agent need not be asked for.

A range around the median of the last batches, in logarithms, since what makes batches longer makes them so by a factor;
its width follows the median distance from that median (Hampel, "The influence curve and its role in robust estimation",
Journal of the American Statistical Association 69, 1974), which single stragglers hardly move. One batch out of the
range may be chance; two on end on the same side are news. A driver that gets warm shortens its batches for minutes:
what would be news to the newest batches is forgotten, their own noise taken from the steps between them, which such a
drift hardly widens (von Neumann, "Distribution of the ratio of the mean square successive difference to the variance",
Annals of Mathematical Statistics 12, 1941). Pure.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from collections import deque
from collections.abc import Collection
from typing import NamedTuple

from streamjob_agent.bridge import BatchEnd
from streamjob_agent.wire import Unusual

FEWEST = 8
"""Batches from which a range is known."""
KEPT = 60
"""Batches that a range is made of, at most."""
DEVIATIONS = 2.5
"""Half the width of the range, in standard deviations of a batch. Wider while there are few batches."""
FEW_COST = 6.0
"""Over the number of batches: by what part the range is wider."""
LEAST_DEVIATION = 0.03
LEAST_RATIO = 1.2
"""A batch that is less than a fifth longer or shorter is not worth waking anybody for."""
_NORMAL = 1.4826  # standard deviation over median distance, of normal noise
_SHORTEST_S = 1e-3


class Limits(NamedTuple):
    """Both ends of a range that values were usually in."""

    low: float
    high: float


class Range:
    """Values of one query's batches, as they end, and what they usually are. Above 0."""

    def __init__(self) -> None:
        self._logs: deque[float] = deque(maxlen=KEPT)
        self._odd: tuple[int, float] | None = None  # side and logarithm of a value out of the range

    def take(self, number: float) -> Limits | None:
        """One more value; the range until now where it is news; then it is learned anew from the two that made them."""
        value = math.log(number)
        side, middle, width = self._side(value)
        if side == 0:
            self._keep(value)
            self._forget()
        elif self._odd is None or self._odd[0] != side:
            if self._odd is not None:
                self._logs.append(self._odd[1])
            self._odd = (side, value)
        else:
            self._logs.clear()
            self._keep(value)
            return _limits(middle, width)
        return None

    def above(self, number: float) -> Limits | None:
        """The range, where a value that is still to be taken would be news: it is above, as the one before it was."""
        side, middle, width = self._side(math.log(number))
        return _limits(middle, width) if side == 1 and self._odd is not None and self._odd[0] == 1 else None

    def restart(self) -> None:
        """Values of before are no measure any more."""
        self._logs.clear()
        self._odd = None

    def _side(self, value: float) -> tuple[int, float, float]:
        """1 above the range, -1 below it, else 0; the range's middle and half its width, in logarithms."""
        width = self._width()
        middle = statistics.median(self._logs) if self._logs else value
        if width is None or abs(value - middle) <= width:
            return 0, middle, width or 0.0
        return (1 if value > middle else -1), middle, width

    def _keep(self, value: float) -> None:
        """The value before this one, which was out of the range alone, counts like any other."""
        if self._odd is not None:
            self._logs.append(self._odd[1])
        self._logs.append(value)
        self._odd = None

    def _forget(self) -> None:
        """Leave out what is of another time: up to the last two on end that would be news to the newest ones."""
        newest = list(self._logs)[-FEWEST:]
        if len(self._logs) <= FEWEST:
            return
        steps = [abs(late - early) for early, late in itertools.pairwise(newest)]
        middle, wide = statistics.median(newest), _wide(_NORMAL * statistics.median(steps) / math.sqrt(2.0), FEWEST)
        sides = [0 if abs(one - middle) <= wide else 1 if one > middle else -1 for one in self._logs]
        odd = [at for at, (early, late) in enumerate(itertools.pairwise(sides)) if early and early == late]
        for _ in range(odd[-1] + 2 if odd else 0):
            self._logs.popleft()

    def _width(self) -> float | None:
        """Half the range, in logarithms; None while too few batches have ended."""
        if len(self._logs) < FEWEST:
            return None
        middle = statistics.median(self._logs)
        return _wide(_NORMAL * statistics.median(abs(one - middle) for one in self._logs), len(self._logs))


class UsualBatches:
    """How long one query's batches take, as they end. `news` stays until there is other news, or they begin anew."""

    def __init__(self) -> None:
        self._range = Range()
        self.news: Unusual | None = None

    def take(self, batch: BatchEnd) -> None:
        """One more batch."""
        limits = self._range.take(max(batch.duration_s, _SHORTEST_S))
        self.news = self.news if limits is None else _news(batch, limits)

    def restart(self) -> None:
        """Batches of before are no measure any more: key groups move, or executors came or went."""
        self._range.restart()
        self.news = None


def _wide(deviation: float, count: int) -> float:
    """Half a range, of the standard deviation that so many batches show."""
    return max(math.log(LEAST_RATIO), DEVIATIONS * (1.0 + FEW_COST / count) * max(deviation, LEAST_DEVIATION))


def _limits(middle: float, width: float) -> Limits:
    return Limits(low=math.exp(middle - width), high=math.exp(middle + width))


def _news(batch: BatchEnd, limits: Limits) -> Unusual:
    return Unusual(
        batch_id=batch.batch_id,
        ended_at_s=batch.ended_at_s,
        seconds=round(batch.duration_s, 3),
        low_s=round(limits.low, 3),
        high_s=round(limits.high, 3),
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a query's batches ran on; those of two grounds are not compared. `moving`: key groups are about to move."""

    executors: frozenset[str]
    moved: int
    moving: bool


class Usual:
    """The batches of every query. Used by the agent's thread alone."""

    def __init__(self) -> None:
        self._queries: dict[str, UsualBatches] = {}
        self._grounds: dict[str, Ground] = {}

    def take(self, batch: BatchEnd, ground: Ground) -> None:
        """One more batch; the first one on another ground has loaded state, and counts for nothing."""
        batches = self._queries.setdefault(batch.query_id, UsualBatches())
        if ground.moving or self._grounds.get(batch.query_id, ground) != ground:
            batches.restart()
        else:
            batches.take(batch)
        self._grounds[batch.query_id] = ground

    def news(self, query_id: str) -> Unusual | None:
        """The newest batch of a query that was out of its range."""
        batches = self._queries.get(query_id)
        return None if batches is None else batches.news

    def forget(self, queries: Collection[str]) -> None:
        """Drop queries that are over."""
        for query_id in queries:
            self._queries.pop(query_id, None)
            self._grounds.pop(query_id, None)
