"""Rows of a series that were read before: what was scraped does not change, so a cycle asks for new scrapes alone.

Series reach back over several windows, most of which the cycles before have read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from streamjob_operator.kube.metrics.target import Mark
from streamjob_operator.measure.batches import Totals, series_of
from streamjob_operator.measure.weight import held_bytes
from streamjob_operator.series import BatchSeries
from streamjob_planners.model import GroupId


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KnownRows:
    """Rows between scrapes that saw batches end, times by Prometheus's clock.

    `series` has a row for each of `marks` but the first, None where there is one mark alone; `newest` is the reading at
    the last one.
    """

    marks: tuple[Mark, ...]
    group_ids: tuple[GroupId, ...]
    series: BatchSeries | None
    newest: Totals

    @property
    def size_bytes(self) -> int:
        """What it holds but for ids of key groups, which the page of the newest scrape holds, too."""
        newest = self.newest
        arrays = (newest.busy_s, newest.warmup_s, newest.records, newest.owners)
        rows = 0 if self.series is None else self.series.nbytes
        return rows + sum(one.nbytes for one in arrays) + held_bytes(newest.figures)

    def since(self, marks: Sequence[Mark], group_ids: tuple[GroupId, ...]) -> KnownRows | None:
        """What is known of the first of these marks; None where that is nothing, or key groups are others."""
        if marks[0] not in self.marks or self.group_ids != group_ids:
            return None
        first = self.marks.index(marks[0])
        there = self.marks[first:]
        if there != tuple(marks[: len(there)]):
            return None
        series = None if self.series is None or len(there) < 2 else self.series.from_row(first)
        return dataclasses.replace(self, marks=there, series=series)

    def and_then(self, marks: Sequence[Mark], readings: Sequence[Totals]) -> KnownRows | None:
        """With what was read at the scrapes since; None where that tells of other parts or stages than before."""
        if not readings:
            return self
        later = known_rows((self.marks[-1], *marks), self.group_ids, (self.newest, *readings))
        if later is None or self.series is None or later.series is None:
            return later
        if _labels(later.series) != _labels(self.series):
            return None
        return dataclasses.replace(later, marks=(*self.marks, *marks), series=self.series.followed_by(later.series))


def known_rows(marks: Sequence[Mark], group_ids: tuple[GroupId, ...], readings: Sequence[Totals]) -> KnownRows | None:
    """Of a reading at each of the marks; None where some two of them make no row."""
    series = series_of(readings)
    if series is None or series.batches.size != len(marks) - 1:
        return None
    return KnownRows(marks=tuple(marks), group_ids=group_ids, series=series, newest=readings[-1])


def _labels(series: BatchSeries) -> tuple[set[str], set[str]]:
    return set(series.parts_s), set(series.stages)
