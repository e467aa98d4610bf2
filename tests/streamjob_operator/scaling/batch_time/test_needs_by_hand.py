"""How many executors are enough, in worlds without any chance: each figure can be worked out on paper."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from views import hot
from worlds import job

from streamjob_operator.scaling.batch_time.needs import View, by_slots, line_of, needs
from streamjob_operator.scaling.batch_time.state import Line
from streamjob_operator.scaling.rule import Fleet
from streamjob_planners.batch.work import FreeWork, Work
from streamjob_planners.forecast.past import Forecast


def work(row_s: list[float], fixed_s: list[float]) -> Work:
    """Key groups of one stage, by what a row of the batch and the task itself take of each."""
    zeros = np.zeros(len(row_s))
    return Work(
        level=zeros.astype(np.int64), task_fixed_s=np.array(fixed_s), task_row_s=np.array(row_s), spread_ratio=zeros
    )


def made(of: Work, executors: int, *edits: tuple[str, str], rate_rps: float = 1000.0, **measured: Any) -> View:
    """A trigger of 10 s and so many executors of one slot; 10,000 rows a batch were measured."""
    plain, rate = hot(0.02, 1.0), Forecast(rate_rps=rate_rps, spread=0.0)
    return dataclasses.replace(
        plain,
        job=job(("max: 6", "max: 40"), *edits),
        fleet=Fleet(ready=executors, wanted=executors, marked=0),
        measured=dataclasses.replace(plain.measured, work=of, **measured),
        ahead=rate,
        highest=rate,
    )


EVEN = work([1e-4] * 24, [0.0] * 24)
"""24 key groups; each takes 1 s of the 10,000 rows that come within a trigger: three executors take 8 s, two 12 s."""
BEND = work([0.0, 1e-3], [6.0, 0.0])
"""One key group takes 6 s whatever comes, the other 1 ms a row: side by side, batches of up to 6,000 rows take 6 s."""
UTILIZATION = ("targetUtilization: 70", "targetUtilization: 60, objective: utilization")


@pytest.mark.parametrize(("executors", "enough"), [(0, False), (2, False), (3, True), (4, True)])
def test_batches_that_are_in_time_are_enough(executors: int, enough: bool) -> None:
    assert needs(made(EVEN, executors)).today_enough is enough


def test_nobody_is_never_enough_however_little_there_is_to_do() -> None:
    found = needs(made(EVEN, 0, rate_rps=100.0))
    assert (found.today_enough, found.out.executors, found.calm.executors) == (False, 1, 1)


@pytest.mark.parametrize(
    ("rate_rps", "executors", "edits", "asked"),
    [
        (1000.0, 2, (), 3),
        (3000.0, 3, (), 8),  # of 3 s each, three in 10 s
        (3000.0, 2, (), 6),  # three times two and no more
        (3000.0, 2, (("min: 1", "min: 7"),), 7),
        (3000.0, 2, (("max: 40", "max: 5"),), 5),
    ],
)
def test_executors_are_asked_for_up_to_three_times_those_there_are(
    rate_rps: float, executors: int, edits: tuple[tuple[str, str], ...], asked: int
) -> None:
    """They are there at once, so that nothing gathers until then."""
    view = dataclasses.replace(made(EVEN, executors, *edits, rate_rps=rate_rps), ready_s=0.0)
    assert needs(view).out.executors == asked


def test_fewer_must_be_enough_for_a_rate_that_is_seldom_passed() -> None:
    """1.645 standard deviations of 0.2: e^0.329 = 1.39 times the rate. Three executors take 11.1 s then, four 8.3 s."""
    view = dataclasses.replace(made(EVEN, 3), highest=Forecast(rate_rps=1000.0, spread=0.2))
    found = needs(view)
    assert (found.out.executors, found.calm.executors) == (3, 4)


def test_where_no_number_is_enough_for_that_rate_those_stay_that_are_for_the_expected_one() -> None:
    """A key group takes 9.5 s of 10, the others 1.2 s: two executors are in time, one is not. At 1.39 times the rate
    none are, and the second one would hardly make batches shorter there: it left, and was asked for again."""
    view = dataclasses.replace(
        made(work([9.5e-4, *[5e-6] * 24], [0.0] * 25), 2), highest=Forecast(rate_rps=1000.0, spread=0.2)
    )
    found = needs(view)
    assert (found.today_enough, found.out.executors, found.calm.executors) == (True, 2, 2)


def test_where_more_are_there_than_may_be_fewer_must_still_be_enough() -> None:
    """Tasks of 4 s, two in 10 s: twelve, although no more than six may be asked for."""
    assert needs(made(EVEN, 20, ("max: 40", "max: 6"), rate_rps=4000.0)).calm.executors == 12


def waiting(view: View, backlog_rows: float) -> View:
    arriving = dataclasses.replace(view.arriving, backlog_rows=backlog_rows, waiting_rows=2.5e5)
    return dataclasses.replace(view, arriving=arriving)


def test_what_waits_counts_where_there_is_a_backlog_and_then_all_of_it() -> None:
    none, some = needs(waiting(made(EVEN, 3), 0.0)).out, needs(waiting(made(EVEN, 3), 1.0)).out
    assert (none.executors, none.judged.gone_s) == (3, None)
    assert some.executors > 3
    assert some.judged.gone_s is not None


def test_a_backlog_keeps_nobody_who_is_not_needed_without_it() -> None:
    found = needs(waiting(made(EVEN, 3), 2.5e5)).calm
    assert (found.executors, found.judged.gone_s) == (3, None)


@pytest.mark.parametrize(
    ("of", "measured", "executors"),
    [
        (EVEN, {}, 4),  # 1,000 rows a second of 2.4 ms: 2.4 slots, which are 60 percent of four
        (EVEN, {"slots": 2}, 2),
        (EVEN, {"lost_executors": 1}, 5),
        (work([1e-4] * 24, [0.5] * 24), {}, 6),  # 12 s more in each 10 s: 3.6 slots
        (dataclasses.replace(EVEN, free=(FreeWork(row_s=6e-4),)), {}, 5),  # 3 slots
    ],
)
def test_slots_are_busy_to_the_target(of: Work, measured: dict[str, Any], executors: int) -> None:
    assert by_slots(made(of, 3, UTILIZATION, **measured), 1000.0) == executors
    assert by_slots(made(of, 3, **measured), 1000.0) == 1


def test_without_a_trigger_tasks_are_begun_as_often_as_batches_like_todays_are_full() -> None:
    """5,000 rows every 5 s: 12 s of tasks in each 5 s and 2.4 slots of rows are 4.8, which are 60 percent of eight."""
    view = made(work([1e-4] * 24, [0.5] * 24), 3, UTILIZATION, rows=5000.0)
    assert by_slots(dataclasses.replace(view, trigger_s=0.0), 1000.0) == 8


@pytest.mark.parametrize(("rate_rps", "executors"), [(0.0, 1), (100.0, 1), (1000.0, 4), (1005.0, 5)])
def test_a_slot_that_is_hardly_needed_is_one_more_and_one_executor_is_always_there(
    rate_rps: float, executors: int
) -> None:
    """60 percent of four slots are 1,000 rows a second; 1,005 are 60 percent of 4.02."""
    assert by_slots(made(EVEN, 3, UTILIZATION), rate_rps) == executors


@pytest.mark.parametrize(("executors", "enough"), [(3, False), (4, True)])
def test_slots_that_are_too_busy_ask_for_more_than_batches_in_time_do(executors: int, enough: bool) -> None:
    """Three would do by time, with 8 s; four are asked for, and what is told of them is their own 6 s."""
    found = needs(made(EVEN, executors, UTILIZATION))
    assert found.today_enough is enough
    for one in (found.out, found.calm):
        assert (one.executors, one.reached) == (4, True)
        assert one.judged.batch is not None
        assert one.judged.batch.mean_s == pytest.approx(6.0)


def test_busy_slots_ask_for_three_times_those_there_are_at_most_as_well() -> None:
    """3,000 rows a second keep 7.2 slots busy, 60 percent of twelve."""
    assert needs(made(EVEN, 2, UTILIZATION, rate_rps=3000.0)).out.executors == 6


@pytest.mark.parametrize(
    ("edits", "trigger_s", "rows", "row_s"),
    [
        ((), 10.0, 4000.0, 0.8e-3),  # from 6 s of 5,000 rows to 10 s of 10,000
        ((("targetUtilization: 70", "maxLatency: 40s"),), 10.0, 4000.0, 1e-3),  # batches of 20 s
        ((("targetUtilization: 70", "maxLatency: 15s"),), 10.0, 4000.0, 0.8e-3),  # of 5 s, in each 10 s
        ((), 0.0, 10_000.0, 0.8e-3),
        ((), 0.0, 4000.0, 0.0),
    ],
)
def test_batches_are_foretold_for_as_many_rows_as_come_in_one(
    edits: tuple[tuple[str, str], ...], trigger_s: float, rows: float, row_s: float
) -> None:
    view = dataclasses.replace(made(BEND, 2, *edits, rows=rows), trigger_s=trigger_s)
    assert needs(view).today.pace.row_s == pytest.approx(row_s)


@pytest.mark.parametrize(
    ("executors", "rows", "fixed_s", "row_s"),
    [(2, 4000.0, 2.0, 0.8e-3), (2, 20_000.0, 0.0, 1e-3), (1, 4000.0, 6.0, 1e-3), (0, 4000.0, 6.0, 1e-3)],
)
def test_what_a_change_promises_is_noted_for_batches_as_large_as_todays_at_least(
    executors: int, rows: float, fixed_s: float, row_s: float
) -> None:
    found = line_of(made(BEND, 2, rows=rows), executors)
    assert found == Line(fixed_s=pytest.approx(fixed_s), row_s=pytest.approx(row_s))


@pytest.mark.parametrize("rate_rps", [1e6, 1e18])
def test_no_more_executors_are_thought_of_than_may_be_whatever_rate_is_hinted(rate_rps: float) -> None:
    """A batch was laid out on as many as slots ask for, in the operator's own memory: who hints enough ended it."""
    found = needs(made(EVEN, 3, UTILIZATION, rate_rps=rate_rps))
    assert (found.out.executors, found.calm.executors) == (9, 9)
