"""From readings at batch ends to the series of the batches between them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from streamjob_agent import metric_names as names
from streamjob_operator.measure.growth import growth
from streamjob_operator.measure.page import STAGE_COUNTERS, Page
from streamjob_operator.series import BatchSeries, StageRows
from streamjob_operator.values import StageView
from streamjob_planners.model import FloatArray, GroupId, IntArray

MOST_VALUES = 40_000
"""Seconds and records of key groups, over all rows: beyond, older readings are left out evenly, so that a row of theirs
stands for more batches."""
NEWEST, NEWEST_RATIO = 16, 1 / 3
"""Readings that are left out last, and part of all that are kept that these are at most: as many batches as changes,
slow executors and the rate's course are seen by."""
UNKNOWN = -1
"""Number of the executor of a key group whose executor nobody knows."""
DIGITS = 4
"""Tenths of a millisecond: Spark tells milliseconds."""
QUERY_FIGURES = (
    names.QUERY_BATCH_SECONDS,
    names.QUERY_INPUT_ROWS,
    names.QUERY_OTHER_BUSY_SECONDS,
    names.QUERY_MOVED_GROUPS,
)
Figure = tuple[str, str]
"""A counter of the query: the name of its series, and the part or stage that it is of, empty without."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counters of one reading: of the query, and of each key group its own, (n_groups,); executors that there were.

    `owners`: number of the executor of each key group's newest task, -1 where unknown, (n_groups,).
    """

    at_s: float
    batches: float
    busy_s: FloatArray
    warmup_s: FloatArray
    records: FloatArray
    figures: Mapping[Figure, float]
    executors: frozenset[str]
    owners: IntArray


def totals_of(page: Page, group_ids: tuple[GroupId, ...]) -> Totals:
    """A page's counters, its key groups in this order; one that it does not have is at 0."""
    figures = {(name, ""): page.query.get(name, 0.0) for name in QUERY_FIGURES}
    figures |= {(names.PART_SECONDS, part): seconds for part, seconds in page.parts_s.items()}
    for name in STAGE_COUNTERS:
        figures |= {(name, stage): seconds for stage, seconds in page.stages[name].items()}
    return Totals(
        at_s=page.at_s,
        batches=page.batches,
        busy_s=in_order(page, names.GROUP_BUSY_SECONDS, group_ids),
        warmup_s=in_order(page, names.GROUP_WARMUP_SECONDS, group_ids),
        records=in_order(page, names.GROUP_RECORDS, group_ids),
        figures=figures,
        executors=frozenset(executor for executor, _ in page.executors),
        owners=_owners(page, group_ids),
    )


def _owners(page: Page, group_ids: tuple[GroupId, ...]) -> IntArray:
    owner_of = dict(zip(page.group_ids, page.owners, strict=True))
    owners = page.owners if page.group_ids == group_ids else [owner_of.get(group) for group in group_ids]
    return np.array([UNKNOWN if one is None else int(one) for one in owners], dtype=np.int64)


def figures_of(
    *,
    batch_s: float,
    input_rows: float,
    other_busy_s: float,
    moved: int,
    parts_s: Mapping[str, float],
    stages: Iterable[StageView],
) -> dict[Figure, float]:
    """Counters of the query after one batch, for a source of measurements that has no page."""
    query = zip(QUERY_FIGURES, (batch_s, input_rows, other_busy_s, float(moved)), strict=True)
    figures = {(name, ""): value for name, value in query}
    figures |= {(names.PART_SECONDS, part): seconds for part, seconds in parts_s.items()}
    for view in stages:
        stage = names.stage_name(view.operator, f"{view.level}.0")
        seconds = (view.wall_s, view.busy_s, view.longest_s, view.wait_s)
        figures |= {(name, stage): value for name, value in zip(STAGE_COUNTERS, seconds, strict=True)}
    return figures


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
    """Which readings to keep for at most MOST_VALUES values, rising: the newest ones, the first, and others between,
    spread evenly.

    What has just changed is told by single batches: a row that has some from before a change and some after says less.
    """
    most = max(2, MOST_VALUES // max(1, 2 * n_groups))
    newest = np.arange(max(0, readings - _alone(most)), readings)
    older = readings - newest.size
    spread = np.linspace(0, older - 1, min(older, most - newest.size)).round()
    return np.concatenate((spread.astype(np.int64), newest))


def _alone(most: int) -> int:
    """How many of the newest readings are kept one by one, of so many in all; 1 or more."""
    return max(1, min(NEWEST, int(NEWEST_RATIO * most)))


Spans = Sequence[tuple[Totals, Totals]]


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
        batch_s=_rows(spans, (names.QUERY_BATCH_SECONDS, "")),
        busy_s=np.stack([worked_s(start, end) for start, end in spans]).round(DIGITS),
        records=np.stack([grown(start.records, end.records) for start, end in spans]),
        input_rows=_rows(spans, (names.QUERY_INPUT_ROWS, "")),
        other_busy_s=_rows(spans, (names.QUERY_OTHER_BUSY_SECONDS, "")),
        moved=_rows(spans, (names.QUERY_MOVED_GROUPS, "")).astype(np.int64),
        executors_changed=np.array([len(a.executors ^ b.executors) for a, b in spans], dtype=np.int64),
        owners=np.stack([end.owners for _, end in spans]),
        parts_s={part: _rows(spans, (names.PART_SECONDS, part)) for part in _labels(spans, names.PART_SECONDS)},
        stages={stage: _stage(spans, stage) for stage in _labels(spans, names.STAGE_WALL_SECONDS)},
    )


def _rows(spans: Spans, figure: Figure) -> FloatArray:
    return np.array([growth(start.figures, end.figures, figure) for start, end in spans]).round(DIGITS)


def _labels(spans: Spans, name: str) -> list[str]:
    """Parts or stages that the newest reading tells of."""
    return sorted(label for series, label in spans[-1][1].figures if series == name)


def _stage(spans: Spans, stage: str) -> StageRows:
    return StageRows(
        operator=names.stage_operator(stage),
        wall_s=_rows(spans, (names.STAGE_WALL_SECONDS, stage)),
        busy_s=_rows(spans, (names.STAGE_BUSY_SECONDS, stage)),
        longest_s=_rows(spans, (names.STAGE_LONGEST_SECONDS, stage)),
        wait_s=_rows(spans, (names.STAGE_WAIT_SECONDS, stage)),
    )
