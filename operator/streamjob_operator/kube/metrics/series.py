"""The batches of a window one by one, as far as scrapes tell them apart, read back from Prometheus in one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamjob_agent import metric_names as names
from streamjob_operator.kube.metrics.http import Connection
from streamjob_operator.kube.metrics.target import Mark, Target, any_of, quoted
from streamjob_operator.measure.batches import QUERY_FIGURES, UNKNOWN, Figure, Totals, read_less, series_of
from streamjob_operator.measure.page import STAGE_COUNTERS, Page
from streamjob_operator.measure.page_text import finite
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


def read_series(
    connection: Connection, target: Target, marks: Sequence[Mark], scrapes: int, end: Page
) -> BatchSeries | None:
    """Rows between scrapes that saw batches end, `marks`, of which the last is that of the page `end`.

    `scrapes` is how many there were in all since the first of them. None where that is too much to
    read, or nothing is between. Raises Unavailable.
    """
    series = (len(_OF_GROUPS) + 1) * len(end.group_ids) + len(end.executors)
    if len(marks) < 2 or series * scrapes > connection.limits.most_samples:
        return None
    kept = [marks[at] for at in read_less(len(marks), len(end.group_ids)).tolist()]
    readings = _Readings(kept, end.group_ids)
    for one in _found(connection, target, kept):
        try:
            readings.add(one["metric"], one["values"])
        except (KeyError, ValueError):
            continue  # labels or numbers that are none: not the agent's
    return series_of(readings.totals(end.at_s - kept[-1].at_s))  # on the operator's clock


class _Readings:
    """What the kept scrapes hold, taken in series by series."""

    def __init__(self, kept: Sequence[Mark], group_ids: Sequence[GroupId]) -> None:
        self._kept = kept
        self._rows = {mark.at_s: at for at, mark in enumerate(kept)}
        self._columns = {(one.operator, one.partition): at for at, one in enumerate(group_ids)}
        self._times: list[float] = []
        self._places: list[int] = []
        self._found: list[int] = []
        self._groups = {name: np.zeros((len(group_ids), len(kept))) for name in _OF_GROUPS}
        self._groups[names.GROUP_EXECUTOR_ID] = np.full((len(group_ids), len(kept)), float(UNKNOWN))
        self._together: dict[str, tuple[list[int], list[list[float]]]] = defaultdict(lambda: ([], []))
        self._figures: list[dict[Figure, float]] = [{} for _ in kept]
        self._executors: list[set[str]] = [set() for _ in kept]

    def add(self, labels: Mapping[str, str], values: Sequence[tuple[float, str]]) -> None:
        """One series: its labels, and times with values as Prometheus writes them. Of two the larger one counts."""
        name = labels["__name__"]
        rows, cells = self._cells(values)
        if name in self._groups:
            column = self._columns.get((int(labels["operator"]), int(labels["partition"])))
            if column is not None:
                columns, together = self._together[name]
                columns.append(column)
                together.append(cells)
        elif name == names.EXECUTOR_CORES:
            for row in rows:
                self._executors[row].add(labels["executor"])
        else:
            figure = (name, labels[_LABEL[name]] if name in _LABEL else "")
            for row, value in zip(rows, cells, strict=True):
                self._figures[row][figure] = max(self._figures[row].get(figure, 0.0), value)

    def _cells(self, values: Sequence[tuple[float, str]]) -> tuple[list[int], list[float]]:
        """Rows and values of a series at the kept scrapes.

        Most series have samples at the same times, so their rows are looked up once.
        """
        times = [at for at, _ in values]
        if times != self._times:
            self._settle()
            self._times = times
            found = [(place, self._rows[float(at)]) for place, at in enumerate(times) if float(at) in self._rows]
            self._places, self._found = [place for place, _ in found], [row for _, row in found]
        cells = [float(values[place][1]) for place in self._places]
        # All of them at once: the mean of which one is no number is none.
        for one in (min(cells, default=0.0), max(cells, default=0.0), sum(cells) / max(1, len(cells))):
            finite(one)
        return self._found, cells

    def _settle(self) -> None:
        """Put the key groups' series that have samples at the same times in their places, all at once."""
        for name, (columns, cells) in self._together.items():
            np.fmax.at(self._groups[name], np.ix_(columns, self._found), np.array(cells))
        self._together.clear()

    def totals(self, shift_s: float) -> list[Totals]:
        """A reading for each kept scrape, its time shifted by so many seconds."""
        self._settle()
        busy_s, warmup_s, records = (self._groups[name] for name in _OF_GROUPS)
        owners = self._groups[names.GROUP_EXECUTOR_ID].astype(np.int64)
        return [
            Totals(
                at_s=mark.at_s + shift_s,
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
