"""From pages and readings to what a scrape interval costs: seconds, batches a row, and when a shift is seen. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

from streamjob_planners.model import FloatArray

CLOCK_S = 1e-3
"""Ends of batches are told to a millisecond."""
WORD_S = 1.0
"""From a batch's end until the agent's word of it begins a cycle: it writes once a second."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was there at a moment: a page that was scraped, or a reading of the series.

    Attributes:
        at_s: when it was there, seconds since the epoch.
        newest_end_s: when the newest batch in it had ended.
        batches: those of a reading's newest row; 0 of a page.
        changed: whether a reading shows that key groups share the work anew.
    """

    at_s: float
    newest_end_s: float
    batches: int = 0
    changed: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Mean, 95th percentile and largest of so many values."""

    mean: float
    p95: float
    largest: float
    count: int

    def __str__(self) -> str:
        return f"{self.mean:.2f}, {self.p95:.2f}, {self.largest:.2f}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How a shift of the load was seen.

    Attributes:
        batches: that had ended with it when a reading showed it.
        after_s: from the end of the first of them to that reading.
        woken_after_s: from the end of the second one, of which the agent tells, to the first cycle that measures it.
        woken_sees: whether that cycle sees the shift, or one of those that follow until it is measured apart.
    """

    batches: int
    after_s: float
    woken_after_s: float
    woken_sees: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One job, read in one way.

    Attributes:
        ends_s: when its batches ended, increasing.
        shifted_s: the last of these, of the batches whose work is shared in the other way.
        told: readings that showed more batches than those before.
        scraped: pages that had more batches than those before; None of the agent's own page.
        gap_s: between two cycles that wait for a batch; None where each reads by itself what there is.
        reading_cpu_s: processor time of each reading.
    """

    ends_s: Sequence[float]
    shifted_s: Sequence[float]
    told: Sequence[Told]
    scraped: Sequence[Told] | None
    gap_s: float | None
    reading_cpu_s: Sequence[float]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Of one way to read.

    Attributes:
        delay_s: from a batch's end to the reading that shows it.
        scrape_s: from there to the page that was scraped; None of the agent's own page, as the next one.
        stored_s: from that page to the reading that shows it.
        batches: of the newest row of each reading.
        shifts: how each was seen, but for those that were `unseen`.
        cpu_ms: of one reading, without Prometheus's own.
    """

    delay_s: Spread
    scrape_s: Spread | None
    stored_s: Spread | None
    batches: Spread
    shifts: tuple[Shift, ...]
    unseen: int
    cpu_ms: Spread


def figures_of(watched: Sequence[Watched]) -> Figures:
    """All jobs together. Raises ValueError where nothing was read."""
    pages = [(one, one.scraped) for one in watched if one.scraped is not None]
    shifts = [shift_seen(one.shifted_s, one.told, one.gap_s) for one in watched]
    seen = tuple(one for one in shifts if one is not None)
    return Figures(
        delay_s=spread(delay for one in watched for delay in delays_s(one.ends_s, one.told)),
        scrape_s=spread(delay for one, found in pages for delay in delays_s(one.ends_s, found)) if pages else None,
        stored_s=spread(delay for one, found in pages for delay in stored_s(found, one.told)) if pages else None,
        batches=spread(told.batches for one in watched for told in one.told),
        shifts=seen,
        unseen=len(shifts) - len(seen),
        cpu_ms=spread(1000 * cpu_s for one in watched for cpu_s in one.reading_cpu_s),
    )


def spread(values: Iterable[float]) -> Spread:
    """Raises ValueError of no values."""
    found = np.array(list(values), dtype=np.float64)
    if not found.size:
        raise ValueError("values: none given, one at least is needed")
    return Spread(
        mean=float(found.mean()),
        p95=float(np.quantile(found, 0.95)),
        largest=float(found.max()),
        count=int(found.size),
    )


def delays_s(ends_s: Sequence[float], told: Sequence[Told]) -> FloatArray:
    """From each batch's end to the first moment that it was told of, for those from the first moment's newest on.

    What nobody told of any more has none, (n,).
    """
    return _waited_s(ends_s, ends_s, told)


def stored_s(scraped: Sequence[Told], told: Sequence[Told]) -> FloatArray:
    """From each page that was scraped to the reading that shows what was on it, (n,)."""
    return _waited_s([one.newest_end_s for one in scraped], [one.at_s for one in scraped], told)


def _waited_s(ends_s: Sequence[float], since_s: Sequence[float], told: Sequence[Told]) -> FloatArray:
    if not told:
        return np.empty(0)
    newest_s, ends = np.array([one.newest_end_s for one in told]) + CLOCK_S, np.array(ends_s)
    known = (ends > newest_s[0]) & (ends <= newest_s[-1])
    at_s = np.array([one.at_s for one in told])[np.searchsorted(newest_s, ends[known])]
    return np.asarray(at_s - np.array(since_s)[known], dtype=np.float64)


def shift_seen(ends_s: Sequence[float], told: Sequence[Told], gap_s: float | None) -> Shift | None:
    """How a shift was seen, by the ends of the batches that have it, at least two; None where it was not.

    The agent's word of the second batch begins a cycle, which is repeated after each gap until it measures that batch
    apart from those before it: alone in its row, or in one that another row follows.
    """
    seen = next((one for one in told if one.changed), None)
    second = next((at for at, one in enumerate(told) if one.newest_end_s >= ends_s[1] - CLOCK_S), None)
    if seen is None or second is None:
        return None
    begun_s, apart = ends_s[1] + WORD_S, second if told[second].batches == 1 else min(second + 1, len(told) - 1)
    measured_s, last_s = (_cycle_s(begun_s, told[at].at_s, gap_s) for at in (second, apart))
    return Shift(
        batches=sum(end <= seen.at_s for end in ends_s),
        after_s=seen.at_s - ends_s[0],
        woken_after_s=measured_s - ends_s[1],
        woken_sees=(seen.newest_end_s if gap_s is None else seen.at_s) <= last_s,
    )


def _cycle_s(begun_s: float, there_s: float, gap_s: float | None) -> float:
    """The first of the cycles that are repeated from a moment on which comes when something is there."""
    return begun_s if gap_s is None else begun_s + gap_s * max(0, math.ceil((there_s - begun_s) / gap_s))
