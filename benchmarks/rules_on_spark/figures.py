"""What a run was worth: what its executors cost, and whose results came late."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
from benchmarks.event_log import Batch, Life

from streamjob_planners.model import FloatArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """From the lead-in's end to the last row's arrival.

    Attributes:
        executor_s: seconds of executors.
        late_rows: share of the rows that came then whose results came later than the objective, 0 to 1.
        age_p50_s, age_p99_s: from a row's arrival to the end of the batch that took it in.
        lag_end_rows: rows that waited when the last one had come.
        least, most: executors at any moment.
        came, went: executors that came, and that went.
        batch_p50_s: seconds of a batch that began then.
    """

    executor_s: float
    late_rows: float
    age_p50_s: float
    age_p99_s: float
    lag_end_rows: int
    least: int
    most: int
    came: int
    went: int
    batch_p50_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """What a run looked like: seconds since the lead-in's end, and what was so from then on.

    Attributes:
        executors: how many there were, after each that came or went.
        oldest_s: how old the results of each batch's oldest row were, at the batch's end.
    """

    executors: tuple[tuple[float, int], ...]
    oldest_s: tuple[tuple[float, float], ...]


def curves(batches: Sequence[Batch], lives: Sequence[Life], span: tuple[float, float]) -> Curves:
    """Of the same as :func:`figures`. A batch's oldest row came when the one before began."""
    since_s, until_s = span
    pairs = [(one, other) for one, other in itertools.pairwise(batches) if other.rows and since_s < other.ended_s]
    return Curves(
        executors=tuple((at_s - since_s, count) for at_s, count in _steps(lives, span)),
        oldest_s=tuple((b.ended_s - since_s, b.ended_s - a.began_s) for a, b in pairs if a.began_s < until_s),
    )


def figures(
    batches: Sequence[Batch],
    lives: Sequence[Life],
    arrivals: Sequence[tuple[float, int]],
    span: tuple[float, float],
    objective_s: float,
) -> Figures:
    """Of one query's batches in order, `arrivals` as moments with all rows that had come by then; moments are seconds
    of one clock. Raises ValueError where no row came within the span, or some were taken in by no batch."""
    since_s, until_s = span
    ages_s = _ages_s(batches, arrivals, since_s)
    took_s = [one.took_s for one in batches if since_s <= one.began_s < until_s and one.rows]
    counts = [count for _, count in _steps(lives, span)]
    return Figures(
        executor_s=sum(_within_s(one, span) for one in lives),
        late_rows=float((ages_s > objective_s).mean()),
        age_p50_s=float(np.percentile(ages_s, 50)),
        age_p99_s=float(np.percentile(ages_s, 99)),
        lag_end_rows=_come(arrivals, until_s) - sum(one.rows for one in batches if one.ended_s <= until_s),
        least=min(counts),
        most=max(counts),
        came=sum(since_s < one.from_s < until_s for one in lives),
        went=sum(one.until_s is not None and since_s < one.until_s < until_s for one in lives),
        batch_p50_s=float(np.median(took_s)) if took_s else float("nan"),
    )


def _ages_s(batches: Sequence[Batch], arrivals: Sequence[tuple[float, int]], since_s: float) -> FloatArray:
    """Of each row that came after `since_s`, (n_rows,): rows are taken in as they came, since a batch takes all."""
    at_s, come = np.array([at for at, _ in arrivals]), np.array([rows for _, rows in arrivals])
    number = np.arange(_come(arrivals, since_s), come[-1])
    taken = np.cumsum([one.rows for one in batches])
    if not number.size:
        raise ValueError("arrivals: no row came within the span")
    if taken[-1] < come[-1]:
        raise ValueError(f"batches: {taken[-1]} of {come[-1]} rows were taken in")
    ended_s = np.array([one.ended_s for one in batches])
    came_s = at_s[np.searchsorted(come, number, side="right")]
    return np.asarray(ended_s[np.searchsorted(taken, number, side="right")] - came_s, dtype=np.float64)


def _come(arrivals: Sequence[tuple[float, int]], at_s: float) -> int:
    return max((rows for moment, rows in arrivals if moment <= at_s), default=0)


def _within_s(life: Life, span: tuple[float, float]) -> float:
    since_s, until_s = span
    return max(0.0, min(until_s, until_s if life.until_s is None else life.until_s) - max(since_s, life.from_s))


def _steps(lives: Sequence[Life], span: tuple[float, float]) -> list[tuple[float, int]]:
    """Executors from the span's begin on, and after each that came or went."""
    since_s, until_s = span
    changes = [(one.from_s, 1) for one in lives]
    changes += [(one.until_s, -1) for one in lives if one.until_s is not None]
    before = sum(change for at_s, change in changes if at_s <= since_s)
    within = sorted((at_s, change) for at_s, change in changes if since_s < at_s < until_s)
    counts = itertools.accumulate((change for _, change in within), initial=before)
    return list(zip((since_s, *(at_s for at_s, _ in within)), counts, strict=True))
