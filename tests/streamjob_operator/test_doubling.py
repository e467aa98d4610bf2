"""Waiting that doubles, up to a limit, whatever the number of failures."""

from __future__ import annotations

import pytest

from streamjob_operator.doubling import doubled_s
from streamjob_operator.spec.restart import Backoff


@pytest.mark.parametrize(
    ("times", "wait_s"), [(0, 0.2), (1, 0.4), (2, 0.8), (4, 3.2), (5, 5.0), (6, 5.0), (1_000, 5.0), (10**12, 5.0)]
)
def test_a_wait_doubles_up_to_its_limit(times: int, wait_s: float) -> None:
    assert doubled_s(0.2, times, 5.0) == wait_s


def test_the_first_wait_is_no_longer_than_the_limit_either() -> None:
    assert doubled_s(7.0, 0, 5.0) == 5.0


def test_the_shortest_first_wait_reaches_the_longest_limit() -> None:
    assert doubled_s(1e-9, 10_000, 1e9) == 1e9


@pytest.mark.parametrize(("before", "wait_s"), [(0, 10.0), (1, 20.0), (4, 160.0), (5, 300.0), (5_000, 300.0)])
def test_a_driver_is_waited_for_as_its_backoff_says(before: int, wait_s: float) -> None:
    assert Backoff().wait_s(before) == wait_s
