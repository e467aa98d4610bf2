"""The batches of a window one by one, as far as scrapes tell them apart, read back from Prometheus in one query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from streamjob_agent import metric_names as names
from streamjob_operator.kube.prometheus_http import Connection
from streamjob_operator.kube.prometheus_target import Mark, Target, any_of, quoted
from streamjob_operator.measure.batches import Totals, read_less, series_of
from streamjob_operator.measure.page import Page
from streamjob_operator.series import BatchSeries
from streamjob_planners.model import FloatArray, GroupId

MOST_SAMPLES = 400_000
"""Samples of one answer; a job with more within a window has no series."""
_WANTED = (names.GROUP_BUSY_SECONDS, names.GROUP_WARMUP_SECONDS, names.QUERY_BATCH_SECONDS)


def read_series(
    connection: Connection, target: Target, marks: Sequence[Mark], scrapes: int, end: Page
) -> BatchSeries | None:
    """Rows between scrapes that saw batches end, `marks`, of which the last is that of the page `end`.

    `scrapes` is how many there were in all since the first of them. None where that is too much to
    read, or nothing is between. Raises Unavailable.
    """
    if len(marks) < 2 or 2 * len(end.group_ids) * scrapes > MOST_SAMPLES:
        return None
    kept = [marks[at] for at in read_less(len(marks), len(end.group_ids)).tolist()]
    rows = {mark.at_s: at for at, mark in enumerate(kept)}
    columns = {group: at for at, group in enumerate(end.group_ids)}
    busy_s, warmup_s = np.zeros((2, len(kept), len(columns)))
    batch_s = np.zeros(len(kept))
    for one in _found(connection, target, kept):
        name, labels = one["metric"]["__name__"], one["metric"]
        values = [(rows[float(at)], float(value)) for at, value in one["values"] if float(at) in rows]
        if name == names.QUERY_BATCH_SECONDS:
            _fill(batch_s, values)
            continue
        column = columns.get(GroupId(operator=int(labels["operator"]), partition=int(labels["partition"])))
        if column is not None:
            _fill((busy_s if name == names.GROUP_BUSY_SECONDS else warmup_s)[:, column], values)
    shift_s = end.at_s - kept[-1].at_s  # to the operator's clock
    totals = [
        Totals(
            at_s=mark.at_s + shift_s,
            batches=mark.batches,
            batch_s=float(batch_s[at]),
            busy_s=busy_s[at],
            warmup_s=warmup_s[at],
        )
        for at, mark in enumerate(kept)
    ]
    return series_of(totals)


def _found(connection: Connection, target: Target, kept: Sequence[Mark]) -> list[dict[str, Any]]:
    """Every sample within the window, the first scrape's too: Prometheus leaves out what is as old as the range."""
    range_ms = round(1000 * (kept[-1].at_s - kept[0].at_s)) + 1
    _, query_id, _ = kept[-1].identity
    selector = target.selector(any_of(_WANTED), f"query={quoted(query_id)}")
    return connection.query(f"{selector}[{range_ms}ms]", kept[-1].at_s)


def _fill(column: FloatArray, values: Sequence[tuple[int, float]]) -> None:
    for row, value in values:
        column[row] = max(column[row], value)
