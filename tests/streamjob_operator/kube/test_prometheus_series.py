"""Series of a window, as Prometheus tells them: of one whose values are no measurements nothing is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from streamjob_agent import metric_names as names
from streamjob_operator.kube.metrics.http import Connection
from streamjob_operator.kube.metrics.series import read_series
from streamjob_operator.kube.metrics.target import Mark, Target
from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.measure.page import Page
from streamjob_planners.model import GroupId

AT_S = (100.0, 110.0, 120.0)


class Answers:
    """A Prometheus that has these values of two key groups' busy seconds."""

    def __init__(self, first: Sequence[str], second: Sequence[str]) -> None:
        self._values = (first, second)
        self.limits = ReadingLimits()

    def query(self, expression: str, at_s: float) -> list[dict[str, Any]]:
        """Whatever is asked."""
        labels = {"__name__": names.GROUP_BUSY_SECONDS, "operator": "0"}
        return [
            {
                "metric": {**labels, "partition": str(at)},
                "values": [list(one) for one in zip(AT_S, values, strict=True)],
            }
            for at, values in enumerate(self._values)
        ]


class End:
    """As much of a page as is asked for."""

    group_ids = (GroupId(operator=0, partition=0), GroupId(operator=0, partition=1))
    executors = (("0", "h"),)
    at_s = AT_S[-1]


def busy_s(first: Sequence[str], second: Sequence[str]) -> list[list[float]]:
    marks = [Mark(at_s=at_s, identity=("app", "q", "run"), batches=float(at)) for at, at_s in enumerate(AT_S)]
    target = Target(application_id="app", labels={})
    connection, end = cast(Connection, Answers(first, second)), cast(Page, End())
    series = read_series(connection, target, marks, len(marks), end).series
    assert series is not None
    return series.busy_s.tolist()


def test_each_key_group_has_its_own_row_by_row() -> None:
    assert busy_s(("1", "3", "6"), ("10", "20", "40")) == [[2.0, 10.0], [3.0, 20.0]]


@pytest.mark.parametrize(
    "values", [("1", "NaN", "6"), ("1e300", "-1e300", "6"), ("-1e300", "1", "1e300"), ("1", "+Inf", "6")]
)
def test_a_series_with_a_value_that_no_measurement_is_counts_for_nothing(values: tuple[str, ...]) -> None:
    assert busy_s(values, ("10", "20", "40")) == [[0.0, 10.0], [0.0, 20.0]]


def test_large_values_that_are_measurements_count() -> None:
    assert np.array(busy_s(("1", "4e17", "9e17"), ("10", "20", "40"))).max() == pytest.approx(5e17)
