"""The batches of a window one by one, as far as scrapes tell them apart, read back from Prometheus in one query."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamjob_agent import metric_names as names
from streamjob_operator.kube.metrics.http import Connection
from streamjob_operator.kube.metrics.known_rows import KnownRows, known_rows
from streamjob_operator.kube.metrics.target import Mark, Target, any_of, quoted
from streamjob_operator.measure.batches import QUERY_FIGURES, UNKNOWN, Figure, Totals, read_less, series_of
from streamjob_operator.measure.page import STAGE_COUNTERS, Page
from streamjob_operator.measure.page_text import MOST_VALUE, finite
from streamjob_operator.series import BatchSeries
from streamjob_planners.model import GroupId

_OF_GROUPS = (names.GROUP_BUSY_SECONDS, names.GROUP_WARMUP_SECONDS, names.GROUP_RECORDS)
_WANTED = (
    *_OF_GROUPS,
    names.GROUP_EXECUTOR_ID,
    *QUERY_FIGURES,
    names.PART_SECONDS,
    *STAGE_COUNTERS,
    names.EXECUTOR_CORES,
)
_LABEL = {names.PART_SECONDS: "part", **dict.fromkeys(STAGE_COUNTERS, "stage")}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What was read: `series` on the operator's clock, None where there is none, and what need not be read again."""

    series: BatchSeries | None
    known: KnownRows | None = None


def read_series(
    connection: Connection,
    target: Target,
    marks: Sequence[Mark],
    scrapes: int,
    end: Page,
    known: KnownRows | None = None,
) -> Read:
    """Rows between scrapes that saw batches end, `marks`, of which the last is that of the page `end`.

    `scrapes` is how many there were in all since the first of them. No series where that is too much to
    read, or nothing is between. What is `known` is not asked for. Raises Unavailable.
    """
    series = (len(_OF_GROUPS) + 1) * len(end.group_ids) + len(end.executors)
    if len(marks) < 2 or series * scrapes > connection.limits.most_samples:
        return Read(series=None)
    kept = [marks[at] for at in read_less(len(marks), len(end.group_ids)).tolist()]
    found = _continued(connection, target, kept, end, known) or _whole(connection, target, kept, end)
    if found.series is None:
        return found
    ended_at_s = found.series.ended_at_s + (end.at_s - kept[-1].at_s)
    return dataclasses.replace(found, series=dataclasses.replace(found.series, ended_at_s=ended_at_s))


def _continued(
    connection: Connection, target: Target, kept: Sequence[Mark], end: Page, known: KnownRows | None
) -> Read | None:
    """With what is known of the first of the scrapes; None where all of them must be read."""
    before = None if known is None else known.since(kept, end.group_ids)
    if before is None:
        return None
    later = kept[len(before.marks) :]
    readings = _read(connection, target, later, end.group_ids)
    totals = readings.totals()
    rows = None if readings.broken else before.and_then(later, totals)
    return None if rows is None else Read(series=rows.series, known=rows)


def _whole(connection: Connection, target: Target, kept: Sequence[Mark], end: Page) -> Read:
    readings = _read(connection, target, kept, end.group_ids)
    totals = readings.totals()
    rows = None if readings.broken else known_rows(kept, end.group_ids, totals)
    return Read(series=series_of(totals) if rows is None else rows.series, known=rows)


def _read(connection: Connection, target: Target, kept: Sequence[Mark], group_ids: Sequence[GroupId]) -> _Readings:
    readings = _Readings(kept, group_ids)
    for one in _found(connection, target, kept) if kept else ():
        readings.take(one)
    return readings


class _Readings:
    """What the kept scrapes hold, taken in series by series. Once `totals` were asked for, `broken` says that labels
    or numbers of some are none."""

    def __init__(self, kept: Sequence[Mark], group_ids: Sequence[GroupId]) -> None:
        self._kept = kept
        self._rows = {mark.at_s: at for at, mark in enumerate(kept)}
        self._columns = {(str(one.operator), str(one.partition)): at for at, one in enumerate(group_ids)}
        self._times: tuple[float, ...] = ()
        self._places: list[int] = []
        self._found: list[int] = []
        self._groups = {name: np.zeros((len(group_ids), len(kept))) for name in _OF_GROUPS}
        self._groups[names.GROUP_EXECUTOR_ID] = np.full((len(group_ids), len(kept)), float(UNKNOWN))
        self._together: dict[str, tuple[list[int], list[list[float]]]] = defaultdict(lambda: ([], []))
        self._figures: list[dict[Figure, float]] = [{} for _ in kept]
        self._executors: list[set[str]] = [set() for _ in kept]
        self.broken = False

    def take(self, series: Mapping[str, Any]) -> None:
        """One series of an answer: its labels, and times with values as Prometheus writes them. One whose labels or
        numbers are none is not the agent's, and is left out."""
        try:
            self._add(series["metric"], series["values"])
        except (KeyError, ValueError):
            self.broken = True

    def _add(self, labels: Mapping[str, str], values: Sequence[tuple[float, str]]) -> None:
        """Of two values the larger one counts."""
        name = labels["__name__"]
        cells = self._cells(values)
        if name in self._groups:
            column = self._columns.get((labels["operator"], labels["partition"]))
            if column is not None:
                columns, together = self._together[name]
                columns.append(column)
                together.append(cells)
            return
        told = list(zip(self._found, map(finite, cells), strict=True))
        if name == names.EXECUTOR_CORES:
            for row, _ in told:
                self._executors[row].add(labels["executor"])
        else:
            figure = (name, labels[_LABEL[name]] if name in _LABEL else "")
            for row, value in told:
                self._figures[row][figure] = max(self._figures[row].get(figure, 0.0), value)

    def _cells(self, values: Sequence[tuple[float, str]]) -> list[float]:
        """Values of a series at the kept scrapes.

        Most series have samples at the same times, so their rows are looked up once.
        """
        times, texts = zip(*values, strict=True)
        if times != self._times:
            self._settle()
            self._times = times
            found = [(place, self._rows[float(at)]) for place, at in enumerate(times) if float(at) in self._rows]
            self._places, self._found = [place for place, _ in found], [row for _, row in found]
        if len(self._places) == len(texts):
            return list(map(float, texts))
        return [float(texts[place]) for place in self._places]

    def _settle(self) -> None:
        """Put the key groups' series that have samples at the same times in their places, all at once."""
        for name, (columns, cells) in self._together.items():
            told = np.array(cells).reshape(len(columns), len(self._found))
            sound = (np.abs(told) <= MOST_VALUE).all(axis=1)  # NaN is not
            self.broken |= not sound.all()
            np.fmax.at(self._groups[name], np.ix_(np.array(columns)[sound], self._found), told[sound])
        self._together.clear()

    def totals(self) -> list[Totals]:
        """A reading for each kept scrape, by Prometheus's clock."""
        self._settle()
        busy_s, warmup_s, records = (self._groups[name] for name in _OF_GROUPS)
        owners = self._groups[names.GROUP_EXECUTOR_ID].astype(np.int64)
        return [
            Totals(
                at_s=mark.at_s,
                batches=mark.batches,
                busy_s=busy_s[:, at],
                warmup_s=warmup_s[:, at],
                records=records[:, at],
                figures=self._figures[at],
                executors=frozenset(self._executors[at]),
                owners=owners[:, at],
            )
            for at, mark in enumerate(self._kept)
        ]


def _found(connection: Connection, target: Target, kept: Sequence[Mark]) -> list[dict[str, Any]]:
    """Every sample within the window, the first scrape's too: Prometheus leaves out what is as old as the range."""
    range_ms = round(1000 * (kept[-1].at_s - kept[0].at_s)) + 1
    _, query_id, _ = kept[-1].identity
    selector = target.selector(any_of(_WANTED), f"query=~{quoted(query_id + '|')}")
    return connection.query(f"{selector}[{range_ms}ms]", kept[-1].at_s)
