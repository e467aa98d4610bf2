"""The fewest executors against every number of them, and against batches worked through one by one."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjob_planners.batch.predict import Part
from streamjob_planners.batch.work import Work
from streamjob_planners.sizing.capped import most_rows
from streamjob_planners.sizing.course import Outlook, course
from streamjob_planners.sizing.fewest import Aim, fewest, judge, smallest
from streamjob_planners.sizing.pace import Pace, Paces, pace

QUIET = Outlook(rate_rps=1000.0, backlog_rows=0.0, trigger_s=10.0, ready_s=60.0)
AIM = Aim(batch_s=10.0, late_ratio=0.05, gone_within_s=660.0)
KEEP_UP = Aim(batch_s=None, late_ratio=0.05, gone_within_s=660.0)


def work(row_s: float = 1e-3, hot: float = 0.0, spread: float = 0.0, fixed_s: float = 0.5) -> Work:
    """Sixty-four key groups of one level; the first one gets a part `hot` of all rows. `row_s` is of one slot."""
    share = np.full(64, (1.0 - hot) / 64)
    share[0] += hot
    return Work(
        level=np.zeros(64, dtype=np.int64),
        task_fixed_s=np.zeros(64),
        task_row_s=share * row_s,
        spread_ratio=np.full(64, spread),
        fixed_s=fixed_s,
    )


def paces_of(some: Work, rows: float = 10_000.0, common: float = 0.0) -> Paces:
    return functools.cache(lambda executors: pace(some, rows, executors, 1, common))


def test_a_line_tells_batches_of_other_sizes_and_the_rate_that_is_kept_up() -> None:
    found = pace(work(), 10_000.0, 4, 1)
    assert found.batch_s(10_000.0) == pytest.approx(0.5 + 2.5)
    assert found.batch_s(40_000.0) == pytest.approx(0.5 + 10.0)
    assert found.most_rps == pytest.approx(4000.0)
    assert found.settled_rows(3900.0, 10.0) == pytest.approx(3900.0 * 0.5 / (1 - 3900 / 4000))
    assert found.settled_rows(4100.0, 10.0) is None


@pytest.mark.parametrize("rate", [300.0, 900.0, 2500.0, 5300.0])
@pytest.mark.parametrize("backlog", [0.0, 2e5])
@pytest.mark.parametrize("common", [0.0, 0.1])
def test_it_is_the_first_of_all_numbers_that_is_enough(rate: float, backlog: float, common: float) -> None:
    paces = paces_of(work(spread=0.2), rate * 10.0, common)
    outlook = Outlook(rate_rps=rate, backlog_rows=backlog, trigger_s=10.0, ready_s=60.0)
    found = fewest(paces, 30, paces(2), outlook, AIM)
    every = [n for n in range(1, 31) if judge(n, paces, paces(2), outlook, AIM).enough]
    assert found.reached
    assert found.executors == every[0]


def test_noise_of_whole_batches_asks_for_more_executors() -> None:
    needs = [
        fewest(
            paces_of(work(), 40_000.0, noise),
            30,
            paces_of(work())(4),
            Outlook(rate_rps=4000.0, backlog_rows=0.0, trigger_s=10.0, ready_s=0.0),
            AIM,
        ).executors
        for noise in (0.0, 0.15, 0.3)
    ]
    assert needs == sorted(set(needs))


def test_a_heavy_key_group_that_no_executor_shortens_asks_for_few() -> None:
    """A third of all rows in one key group: 13 s at 4000 rows/s, whatever there is; four executors have the rest done
    by then."""
    paces = paces_of(work(hot=1 / 3), 40_000.0)
    outlook = Outlook(rate_rps=4000.0, backlog_rows=0.0, trigger_s=10.0, ready_s=60.0)
    found = fewest(paces, 40, paces(4), outlook, AIM)
    assert not found.reached
    assert found.executors in (3, 4)
    assert found.judged.pace.longest.part is Part.KEY_GROUP


def test_a_fixed_part_above_the_objective_asks_for_no_more() -> None:
    paces = paces_of(work(fixed_s=12.0))
    found = fewest(paces, 40, paces(2), QUIET, AIM)
    assert not found.reached
    assert found.executors <= 3
    assert found.judged.pace.longest.part is Part.FIXED


def test_a_backlog_is_gone_when_batches_worked_through_by_hand_say_so() -> None:
    """1000 rows/s, two executors take in 2000."""
    two = pace(work(), 10_000.0, 2, 1)
    outlook = Outlook(rate_rps=1000.0, backlog_rows=40_000.0, trigger_s=10.0, ready_s=0.0)
    found = course(outlook, two, two, 600.0)
    # 40,000 take 20.5 s, then 20,500 take 10.75 s, then 10,750 are within a tenth of 10,000.
    assert found.gone_s == pytest.approx(31.25)
    assert found.longest_s == pytest.approx(20.5)
    assert (
        course(Outlook(rate_rps=2500.0, backlog_rows=4e4, trigger_s=10.0, ready_s=0.0), two, two, 600.0).gone_s is None
    )


def test_the_batch_that_runs_began_with_what_waited_then() -> None:
    """As above, but read 15 s ago: 20.5 s after that the first batch ends, and 20,500 wait."""
    two, four = pace(work(), 10_000.0, 2, 1), pace(work(), 10_000.0, 4, 1)
    outlook = Outlook(rate_rps=1000.0, backlog_rows=40_000.0, trigger_s=10.0, ready_s=0.0, read_ago_s=15.0)
    assert course(outlook, two, two, 600.0).gone_s == pytest.approx(16.25)
    others = course(outlook, two, four, 600.0)
    assert others.longest_s == pytest.approx(20.5), "executors that come do not shorten it"
    assert others.gone_s == pytest.approx(15.5)


def test_a_longer_way_to_the_executors_needs_more_of_them() -> None:
    paces = paces_of(work(), 10_000.0)
    needs = [
        fewest(
            paces,
            40,
            paces(2),
            Outlook(rate_rps=4000.0, backlog_rows=1e5, trigger_s=10.0, ready_s=ready_s),
            Aim(batch_s=10.0, late_ratio=0.05, gone_within_s=ready_s + 300.0),
        ).executors
        for ready_s in (0.0, 120.0, 600.0)
    ]
    assert needs[0] < needs[1] < needs[2]


def test_a_cap_of_the_source_is_no_need_for_executors() -> None:
    """The source brings 3000 rows/s and hands out 10,000 a batch: three executors take these in 3.8 s of 10."""
    paces = paces_of(work())
    capped = Outlook(rate_rps=3000.0, backlog_rows=1e6, trigger_s=10.0, ready_s=60.0, most_rows=10_000.0)
    assert fewest(paces, 40, paces(2), capped, AIM).executors == 2
    free = Outlook(rate_rps=3000.0, backlog_rows=1e6, trigger_s=10.0, ready_s=60.0)
    assert fewest(paces, 40, paces(2), free, AIM).executors > 4


def test_a_cap_is_seen_where_batches_are_the_same_while_more_waits() -> None:
    same = np.array([9_000.0, 10_000.0, 10_000.0, 9_999.0, 10_000.0])
    assert most_rows(same, 50_000.0) == pytest.approx(10_000.0)
    assert most_rows(same, 10_000.0) is None  # what arrives during a batch
    assert most_rows(same, None) is None
    assert most_rows(np.array([1e4, 1.2e4, 1e4, 0.9e4]), 5e4) is None


def test_without_an_objective_rows_may_take_what_is_asked_of_the_time() -> None:
    paces = paces_of(work())
    outlook = Outlook(rate_rps=4000.0, backlog_rows=0.0, trigger_s=0.0, ready_s=60.0)
    keep_up = Aim(batch_s=None, late_ratio=0.05, gone_within_s=660.0)
    assert fewest(paces, 40, paces(2), outlook, keep_up).executors == 5  # four would take 100 percent
    calm = Aim(batch_s=None, late_ratio=0.05, gone_within_s=660.0, busy_ratio=0.6)
    assert (
        fewest(paces, 40, paces(2), outlook, calm).executors == 8
    )  # of seven, one has ten of 64 key groups: 62.5 percent


@pytest.mark.parametrize(("hot", "executors"), [(0.0, 4), (0.45, 2)])
def test_a_load_that_no_number_keeps_up_with_has_all_that_help(hot: float, executors: int) -> None:
    """Of batches without an objective rows count alone: the work is spread over all of four, or one key group is half
    of it."""
    outlook = Outlook(rate_rps=10_000.0, backlog_rows=0.0, trigger_s=0.0, ready_s=60.0)
    found = fewest(paces_of(work(hot=hot)), 4, paces_of(work(hot=hot))(2), outlook, KEEP_UP)
    assert (found.reached, found.executors) == (False, executors)


@pytest.mark.parametrize("rate", [250.0, 350.0, 400.0, 430.0, 500.0])
@pytest.mark.parametrize("hot", [0.0, 0.28, 0.4])
@pytest.mark.parametrize("most", [4, 12])
def test_of_batches_on_end_the_time_they_settle_at_is_weighed(rate: float, hot: float, most: int) -> None:
    """Where rows take more of the time than they may on any number, the answer is none on which batches that follow
    each other at once settle far longer than on twice as many. Seen on real Spark: with four executors batches of 5 s,
    and "3 executors would do", on which they would have taken 29 s."""
    paces, outlook = (
        paces_of(work(row_s=5e-3, hot=hot, fixed_s=1.3), 800.0),
        Outlook(rate_rps=rate, backlog_rows=0.0, trigger_s=0.0, ready_s=30.0),
    )
    found = fewest(paces, most, paces(4), outlook, dataclasses.replace(KEEP_UP, busy_ratio=0.1))

    def settled_s(executors: int) -> float:
        rows = paces(executors).settled_rows(rate, 0.0)
        return np.inf if rows is None else paces(executors).batch_s(rows)

    assert not found.reached
    if settled_s(most) < np.inf:
        least_s = settled_s(min(2 * found.executors, most))
        assert settled_s(found.executors) <= least_s / 0.8 + 1e-9
        for fewer in range(1, found.executors):
            falls_behind = rate * paces(fewer).row_s > 0.95
            assert falls_behind or settled_s(fewer) > settled_s(min(2 * fewer, most)) / 0.8


def test_the_first_batch_on_executors_that_come_is_a_long_one() -> None:
    """40,000 rows take four executors 10.5 s, and 14.5 s while cold: 14,500 wait then, and 10,000 after that."""
    two, four = pace(work(), 10_000.0, 2, 1), pace(work(), 10_000.0, 4, 1)
    warm = Outlook(rate_rps=1000.0, backlog_rows=40_000.0, trigger_s=10.0, ready_s=0.0)
    cold = dataclasses.replace(warm, cold_s=4.0)
    assert course(warm, two, four, 600.0).gone_s == pytest.approx(10.5)
    assert course(cold, two, four, 600.0).gone_s == pytest.approx(24.5)
    assert course(cold, two, two, 600.0) == course(warm, two, two, 600.0), "those that are there are warm"


def test_what_gathers_until_they_come_is_worked_off_in_time_too() -> None:
    """Two executors take 2000 of 3700 rows/s for a minute: four would be in time, and never through with that."""
    paces, aim = paces_of(work(), 37_000.0), dataclasses.replace(AIM, gone_within_s=180.0)
    outlook = dataclasses.replace(QUIET, rate_rps=3700.0)
    assert fewest(paces, 40, paces(4), outlook, aim).executors == 4
    found = fewest(paces, 40, paces(2), outlook, aim)
    assert found.executors > 4
    assert found.judged.gone_s is not None
    assert 60.0 < found.judged.gone_s <= 180.0


@given(st.integers(1, 200), st.data())
def test_the_smallest_is_found_from_wherever_one_begins(most: int, data: st.DataObject) -> None:
    wanted, near = data.draw(st.integers(1, most)), data.draw(st.integers(1, most))
    asked: list[int] = []

    def holds(number: int) -> bool:
        asked.append(number)
        return number >= wanted

    assert smallest(holds, most, near) == wanted
    assert all(1 <= one <= most for one in asked)
    assert len(asked) <= 2 * abs(wanted - near).bit_length() + 2, "few where it is near"


@pytest.mark.parametrize("today", [1, 2, 7, 30])
@pytest.mark.parametrize("rate", [900.0, 5300.0, 9e4])
@pytest.mark.parametrize("aim", [AIM, KEEP_UP])
def test_today_is_where_one_begins_to_look_and_decides_nothing(rate: float, today: int, aim: Aim) -> None:
    paces = paces_of(work(spread=0.2), rate * 10.0)
    outlook = Outlook(rate_rps=rate, backlog_rows=0.0, trigger_s=10.0, ready_s=0.0)
    found = fewest(paces, 30, paces(today), outlook, aim)
    every = [n for n in range(1, 31) if judge(n, paces, paces(today), outlook, aim).enough]
    assert (found.reached, found.executors) == (True, every[0]) if every else not found.reached


def test_few_numbers_are_judged_where_rows_go_with_executors() -> None:
    asked: list[int] = []
    some = work(spread=0.2)

    @functools.cache
    def paces(executors: int) -> Pace:
        asked.append(executors)
        return pace(some, 40_000.0, executors, 1)

    outlook = Outlook(rate_rps=4000.0, backlog_rows=0.0, trigger_s=10.0, ready_s=0.0)
    found = fewest(paces, 60, paces(20), outlook, AIM)
    assert found.executors < 10
    assert len(asked) <= 5
