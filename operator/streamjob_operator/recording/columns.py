"""From readings at irregular moments to the even steps of a trace. Pure."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was measured over the window that ends at `at_s`, seconds since the epoch.

    `taken_rps`: rows per second that batches took; `lag_rows` at its end.
    """

    at_s: float
    window_s: float
    taken_rps: float
    lag_rows: float | None
    executors: int
    batch_s: float | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Each column of a trace, one value for each step; None where nobody knows."""

    start_s: float
    step_s: float
    rate: tuple[float | None, ...]
    lag: tuple[float | None, ...]
    executors: tuple[int | None, ...]
    batch_s: tuple[float | None, ...]


def columns(readings: Sequence[Reading], step_s: float) -> Columns:
    """Steps from the first window's beginning to the newest reading; each tells what the window over its middle told.

    `readings` are in the order of time, at least one.
    """
    ends_s = [one.at_s for one in readings]
    start_s = readings[0].at_s - readings[0].window_s
    arrived = arriving_rps(readings)
    count = max(1, round((ends_s[-1] - start_s) / step_s))
    found: list[int | None] = []
    for step in range(count):
        middle_s = start_s + (step + 0.5) * step_s
        at = bisect.bisect_left(ends_s, middle_s)
        inside = at < len(readings) and readings[at].at_s - max(readings[at].window_s, step_s) <= middle_s
        found.append(at if inside else None)
    return Columns(
        start_s=start_s,
        step_s=step_s,
        rate=tuple(None if at is None else arrived[at] for at in found),
        lag=tuple(None if at is None else readings[at].lag_rows for at in found),
        executors=tuple(None if at is None else readings[at].executors for at in found),
        batch_s=tuple(None if at is None else readings[at].batch_s for at in found),
    )


def arriving_rps(readings: Sequence[Reading]) -> list[float]:
    """What reached the sources: rows that were taken, and those by which the lag grew since the reading before."""
    rates, before = [], None
    for one in readings:
        grown_rps = 0.0
        if before is not None and one.lag_rows is not None and before.lag_rows is not None and one.at_s > before.at_s:
            grown_rps = (one.lag_rows - before.lag_rows) / (one.at_s - before.at_s)
        rates.append(max(0.0, one.taken_rps + grown_rps))
        before = one
    return rates
