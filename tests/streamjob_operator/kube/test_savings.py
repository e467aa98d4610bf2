"""Executor-hours beside those of a static peak."""

from __future__ import annotations

import pytest

from streamjob_operator.kube.kubectl.savings_view import saved, total
from streamjob_operator.kube.models.savings import SavingsStatus
from streamjob_operator.kube.models.status import Status
from streamjob_operator.kube.report.savings import LONGEST_GAP_S, counted

MARCH_S = 1_772_323_200.0
"""2026-03-01 00:00 UTC."""


def after(counts: list[int], start_s: float = MARCH_S, step_s: float = 1800.0) -> SavingsStatus:
    status: SavingsStatus | None = None
    for at, executors in enumerate([counts[0], *counts]):
        status = counted(status, executors, start_s + at * step_s)
    assert status is not None
    return status


def test_hours_are_added_up() -> None:
    """Two hours: 2, 4, 4 and 2 executors for half an hour each are 6 hours; four all the time would be 8."""
    (month,) = after([2, 4, 4, 2]).months
    assert (month.month, month.most) == ("2026-03", 4)
    assert month.hours == pytest.approx(2.0)
    assert month.executor_hours == pytest.approx(6.0)
    (one,) = saved([("shop", "orders", Status(savings=after([2, 4, 4, 2])))], None)
    assert one.saved_pct == pytest.approx(25.0)


def test_a_long_gap_is_not_counted() -> None:
    before = after([2, 2])
    later = counted(before, 9, before.counted_at + LONGEST_GAP_S + 1)
    assert later.months == before.months
    assert later.counted_at > before.counted_at


def test_months_are_kept_apart_and_are_few() -> None:
    status = after([3] * (24 * 2 * 130))
    assert [one.month for one in status.months] == ["2026-05", "2026-06", "2026-07"]
    assert status.months[0].executor_hours == pytest.approx(3 * 31 * 24, rel=1e-3)
    (june,) = saved([("shop", "orders", Status(savings=status))], "2026-06")
    assert june.used_h == pytest.approx(3 * 30 * 24, rel=1e-3)
    assert june.saved_pct == pytest.approx(0.0)


def test_a_fleet_is_the_sum_of_its_jobs() -> None:
    jobs = [("shop", name, Status(savings=after(counts))) for name, counts in (("a", [2, 4]), ("b", [1, 1]))]
    found = saved([*jobs, ("shop", "new", Status())], None)
    assert [one.name for one in found] == ["a", "b"]
    assert total(found).used_h == pytest.approx(4.0)
    assert total(found).always_h == pytest.approx(5.0)


def test_a_clock_that_was_set_back_takes_nothing_away() -> None:
    before = after([2, 2])
    assert counted(before, 2, before.counted_at - 60.0).months[-1].executor_hours >= before.months[-1].executor_hours
