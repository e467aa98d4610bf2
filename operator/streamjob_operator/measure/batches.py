"""From readings at batch ends to the series of the batches between them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from streamjob_agent import metric_names as names
from streamjob_operator.measure.page import Page
from streamjob_operator.series import BatchSeries
from streamjob_planners.model import FloatArray, GroupId, IntArray

MOST_VALUES = 20_000
"""Key groups times rows: beyond, readings are left out evenly, so that a row stands for more batches."""
DIGITS = 4
"""Tenths of a millisecond: Spark tells milliseconds."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counters of one reading: batches and their seconds, and of each key group its own, (n_groups,)."""

    at_s: float
    batches: float
    batch_s: float
    busy_s: FloatArray
    warmup_s: FloatArray


def totals_of(page: Page, group_ids: tuple[GroupId, ...]) -> Totals:
    """A page's counters, its key groups in this order; one that it does not have is at 0."""
    return Totals(
        at_s=page.at_s,
        batches=page.batches,
        batch_s=page.query.get(names.QUERY_BATCH_SECONDS, 0.0),
        busy_s=in_order(page, names.GROUP_BUSY_SECONDS, group_ids),
        warmup_s=in_order(page, names.GROUP_WARMUP_SECONDS, group_ids),
    )


def in_order(page: Page, name: str, group_ids: tuple[GroupId, ...]) -> FloatArray:
    """A counter of a page's key groups in this order, 0 for those that the page does not have, (n_groups,)."""
    if page.group_ids == group_ids:
        return page.counters[name]
    values = dict(zip(page.group_ids, page.counters[name].tolist(), strict=True))
    return np.array([values.get(group, 0.0) for group in group_ids], dtype=np.float64)


def grown(first: FloatArray, last: FloatArray) -> FloatArray:
    """How much each counter grew; one that is lower than before has started anew at 0."""
    return np.where(last >= first, last - first, last)


def worked_s(start: Totals, end: Totals) -> FloatArray:
    """Seconds of each key group's tasks between two readings without what moves and starts cost, (n_groups,).

    With these, key groups would be moved for having moved.
    """
    return np.maximum(0.0, grown(start.busy_s, end.busy_s) - grown(start.warmup_s, end.warmup_s))


def read_less(readings: int, n_groups: int) -> IntArray:
    """Which readings to keep, the first, the last, and others spread evenly, for at most MOST_VALUES values."""
    most = max(2, MOST_VALUES // max(1, n_groups))
    return np.unique(np.linspace(0, readings - 1, min(readings, most)).round().astype(np.int64))


def series_of(readings: Sequence[Totals]) -> BatchSeries | None:
    """A row from each reading to the next that saw more batches, oldest first; None for fewer than two readings."""
    if len(readings) < 2:
        return None
    kept = [readings[at] for at in read_less(len(readings), readings[0].busy_s.size).tolist()]
    spans = [(a, b) for a, b in itertools.pairwise(kept) if b.batches > a.batches and b.at_s > a.at_s]
    if not spans:
        return None
    return BatchSeries(
        ended_at_s=np.array([end.at_s for _, end in spans]),
        row_s=np.array([end.at_s - start.at_s for start, end in spans]),
        batches=np.array([round(end.batches - start.batches) for start, end in spans], dtype=np.int64),
        batch_s=np.array([max(0.0, end.batch_s - start.batch_s) for start, end in spans]),
        busy_s=np.stack([worked_s(start, end) for start, end in spans]).round(DIGITS),
    )
