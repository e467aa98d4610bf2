"""A job's past rates, the methods that foretell from them, and how right each of them has been."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Mapping

from streamjob_planners.forecast import period
from streamjob_planners.forecast.errors import Errors
from streamjob_planners.forecast.period import Period
from streamjob_planners.forecast.season import Season, day, week
from streamjob_planners.forecast.track import Track, tracks
from streamjob_planners.forecast.trend import Trend

FEWEST = 6.0
"""Weight of forecasts that must have come due before a method is believed."""
BETTER = 0.8
"""Part of the naive forecast's error that a method may have to be used in its place."""
LEAST_RPS = 1e-3
"""Rows a second that stand for none, so that there is a logarithm."""
MOST_OPEN = 8
"""Forecasts that wait for their time at once."""
ROUND_S = 3600.0
"""Time in which lasting errors come to count for 1/e while no period is known."""
PROVED = 1.0
"""Periods for which one must have been right since it was found: chance may repeat itself for some minutes."""


class Method(enum.StrEnum):
    """How a rate is foretold."""

    NAIVE = "naive"  # as it is now
    TREND = "trend"
    DAY = "day"
    WEEK = "week"
    PERIOD = "period"
    RISE = "rise"  # of the newest batches, which no past is needed for


WORDS = {
    Method.NAIVE: "as it is now",
    Method.TREND: "as it has been rising or falling",
    Method.DAY: "as at this time on earlier days",
    Method.WEEK: "as at this time in earlier weeks",
    Method.PERIOD: "as it comes back",
    Method.RISE: "as it rises from batch to batch",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Forecasts of one moment that has not come: logarithms by method."""

    due_s: float
    foretold: Mapping[str, float]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Rows a second expected at a moment: the median, and the standard deviation of its logarithm.

    `error_ratio` and `naive_ratio`: the usual errors, as parts of the rate, that the method and the naive one
    have had; None while nothing has come due. `every_s`: the period, where it is the method.
    """

    rate_rps: float
    spread: float
    method: Method = Method.NAIVE
    error_ratio: float | None = None
    naive_ratio: float | None = None
    every_s: float | None = None

    def quantile(self, deviations: float) -> float:
        """The rate that many standard deviations above the median."""
        return self.rate_rps * math.exp(deviations * self.spread)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """All that is kept of earlier rates, of bounded size. `at_s` is the newest rate's moment, None before the first.

    `errors` are of the last minutes, `lasting` of a whole round of the period, ROUND_S without one. `since_s`: when the
    period was found.
    """

    at_s: float | None = None
    newest: float = 0.0
    trend: Trend = dataclasses.field(default_factory=Trend)
    day: Season = dataclasses.field(default_factory=day)
    week: Season = dataclasses.field(default_factory=week)
    tracks: tuple[Track, ...] = dataclasses.field(default_factory=tracks)
    period: Period | None = None
    since_s: float = 0.0
    open: tuple[Open, ...] = ()
    errors: Mapping[str, Errors] = dataclasses.field(default_factory=dict)
    lasting: Mapping[str, Errors] = dataclasses.field(default_factory=dict)

    def with_rate(self, at_s: float, rate_rps: float) -> Past:
        """The same after one more measured rate; one from before the newest is left out."""
        if self.at_s is not None and at_s <= self.at_s:
            return self
        log_rate = math.log(max(rate_rps, LEAST_RPS))
        followed = tuple(one.with_rate(at_s, log_rate) for one in self.tracks)
        changed = (new for new, old in zip(followed, self.tracks, strict=True) if new.means is not old.means)
        judged = self._judged(at_s, log_rate)._with_period(period.newer(self.period, changed))
        return dataclasses.replace(
            judged,
            tracks=followed,
            at_s=at_s,
            newest=log_rate,
            trend=self.trend.with_rate(at_s, log_rate),
            day=self.day.with_rate(at_s, log_rate),
            week=self.week.with_rate(at_s, log_rate),
        )

    def with_promise(self, ahead_s: float) -> Past:
        """The same with what is foretold for so many seconds from the newest rate noted down, to be judged then."""
        at_s = self.at_s
        if at_s is None or ahead_s <= 0 or len(self.open) >= MOST_OPEN:
            return self
        if self.open and at_s + ahead_s - self.open[-1].due_s < ahead_s / MOST_OPEN:
            return self
        foretold = {method.value: round(value, 4) for method, value in self._foretold(ahead_s).items()}
        return dataclasses.replace(self, open=(*self.open, Open(due_s=at_s + ahead_s, foretold=foretold)))

    def forecast(self, ahead_s: float, believed: bool = True) -> Forecast:
        """The rate so many seconds after the newest one, by the method that has been the most right.

        Where not `believed`, or where no method was clearly better, that is the newest rate itself. Raises ValueError
        before the first rate.
        """
        foretold = self._foretold(ahead_s)
        method = self._best(tuple(foretold)) if believed else Method.NAIVE
        errors = self.lasting if method is Method.PERIOD else self.errors
        own, naive = _of(errors, method), _of(errors, Method.NAIVE)
        return Forecast(
            rate_rps=math.exp(foretold[method]),
            spread=own.assumed_spread,
            method=method,
            error_ratio=own.spread,
            naive_ratio=naive.spread,
            every_s=self.period.every_s if self.period is not None and method is Method.PERIOD else None,
        )

    def _best(self, methods: tuple[Method, ...]) -> Method:
        if Method.PERIOD in methods and self._comes_back():
            return Method.PERIOD
        known = [one for one in methods if _of(self.errors, one).weight >= FEWEST]
        best = min(known, key=lambda one: _of(self.errors, one).absolute, default=Method.NAIVE)
        return best if _better(self.errors, best, Method.NAIVE) else Method.NAIVE

    def _comes_back(self) -> bool:
        """Whether the period has been the most right for a whole round: while rates are level every method is."""
        others = [Method(name) for name in self.lasting if name != Method.PERIOD.value]
        own = _of(self.lasting, Method.PERIOD)
        if self.period is None or self.at_s is None or self.at_s - self.since_s < PROVED * self.period.every_s:
            return False
        return own.weight >= FEWEST and all(_better(self.lasting, Method.PERIOD, one) for one in others)

    def _with_period(self, found: Period | None) -> Past:
        """The same with that period; how right one of another length was says nothing of it."""
        if found is None or (self.period is not None and period.same(found, self.period)):
            return dataclasses.replace(self, period=found)
        lasting = {name: one for name, one in self.lasting.items() if name != Method.PERIOD.value}
        return dataclasses.replace(self, period=found, since_s=self.at_s or 0.0, open=(), lasting=lasting)

    def _foretold(self, ahead_s: float) -> dict[Method, float]:
        """Logarithms by each method that can say something."""
        if self.at_s is None:
            raise ValueError("forecast: no rate has been seen")
        due_s = self.at_s + ahead_s
        rises = {
            Method.NAIVE: 0.0,
            Method.TREND: self.trend.rise(ahead_s),
            Method.DAY: self.day.rise(self.at_s, due_s),
            Method.WEEK: self.week.rise(self.at_s, due_s),
            Method.PERIOD: period.rise(self.tracks, self.period, self.at_s, due_s),
        }
        return {method: self.newest + rise for method, rise in rises.items() if rise is not None}

    def _judged(self, at_s: float, log_rate: float) -> Past:
        """What has come due since the newest rate held against the rate now, where that is not much later."""
        due = [one for one in self.open if one.due_s <= at_s]
        errors, lasting = dict(self.errors), dict(self.lasting)
        round_s = ROUND_S if self.period is None else self.period.every_s
        passed_s = 0.0 if self.at_s is None else at_s - self.at_s
        keep = math.exp(-passed_s / max(len(due), 1) / round_s)
        for one in due:
            if self.at_s is not None and at_s - one.due_s > 2.0 * (at_s - self.at_s) + 1.0:
                continue
            for method, value in one.foretold.items():
                if method != Method.PERIOD.value:  # which is judged by whole rounds
                    errors[method] = errors.get(method, Errors()).with_error(log_rate - value)
                lasting[method] = lasting.get(method, Errors()).with_error(log_rate - value, keep)
        waiting = tuple(one for one in self.open if one.due_s > at_s)
        return dataclasses.replace(self, open=waiting, errors=errors, lasting=lasting)


def _of(errors: Mapping[str, Errors], method: Method) -> Errors:
    return errors.get(method.value, Errors())


def _better(errors: Mapping[str, Errors], method: Method, other: Method) -> bool:
    """Whether it has been clearly more right than another."""
    return _of(errors, method).absolute < BETTER * _of(errors, other).absolute
