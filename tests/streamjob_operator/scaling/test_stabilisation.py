"""The utilisation rule's own stabilisation, need by need."""

import pytest
from worlds import job

from streamjob_operator.scaling.rule import Fleet
from streamjob_operator.scaling.utilization.needs import Need
from streamjob_operator.scaling.utilization.rule import within_tolerance
from streamjob_operator.scaling.utilization.stabilisation import (
    PARTS,
    History,
    Recommendation,
    recommend,
    stabilised,
)

SLOW = job(("up: 0s, down: 0s", "up: 20s, down: 60s"))
THERE = 3


def followed(*earlier: Recommendation | tuple[float, int], needed: int) -> int:
    """The executors wished for at 1000 s, with three wanted by then."""
    rows = (
        one if isinstance(one, Recommendation) else Recommendation(at_s=one[0], executors=one[1]) for one in earlier
    )
    up, down = stabilised(recommend(History(recommendations=tuple(rows)), needed, SLOW, 1000.0), THERE, SLOW, 1000.0)
    return up if up > THERE else min(down, THERE)


def test_down_follows_the_largest_need_of_its_window() -> None:
    assert followed((930.0, 3), (950.0, 1), (970.0, 2), (990.0, 1), needed=1) == 2


def test_up_follows_the_smallest_need_of_its_window() -> None:
    assert followed((970.0, 3), (985.0, 4), (995.0, 6), needed=5) == 4


def test_one_measurement_after_a_long_outage_does_not_scale_in() -> None:
    assert followed((930.0, 3), needed=1) == THERE


@pytest.mark.parametrize("needed", [1, 6])
def test_a_history_that_does_not_cover_the_window_decides_nothing(needed: int) -> None:
    assert followed((995.0, needed), needed=needed) == THERE


def test_what_was_measured_since_a_change_of_load_covers_no_time_before_it() -> None:
    """A cycle at 945 that saw one batch of less load says nothing of 940."""
    for since_s, target in ((None, 1), (935.0, 1), (944.0, 3)):
        first = Recommendation(at_s=945.0, executors=1, since_s=since_s)
        assert followed((930.0, 3), first, (970.0, 1), needed=1) == target, since_s


def test_the_history_stays_short() -> None:
    history = History()
    for at_s in range(0, 1000, 5):
        history = recommend(history, 2, SLOW, float(at_s))
    assert len(history.recommendations) == 13  # 60 s / 5 s, and the one before


def test_a_week_of_cycles_a_second_apart_is_told_in_a_few_wishes() -> None:
    """As many as there were cycles were kept: more than a status holds, which could then not be written any more."""
    week = job(("up: 0s, down: 0s", "up: 10m, down: 7d"))
    history, peak_s, window_s = History(), 2000.0, 604_800.0
    for at_s in (float(one) for one in range(0, 12_000)):
        needed = 6 if at_s == peak_s else 2 + int(at_s) % 3
        history = recommend(history, needed, week, at_s)
    assert len(history.recommendations) <= 8 * PARTS
    assert max(one.executors for one in history.recommendations) == 6
    for at_s in (11_000.0 + 3600.0 * hour for hour in range(1, 167)):
        history = recommend(history, 3, week, at_s)
        _, down = stabilised(history, 6, week, at_s)
        assert (down == 6) == (at_s < peak_s + window_s), at_s


@pytest.mark.parametrize("after_s", [0.0, 30.0, 59.0, 61.0])
def test_what_is_left_out_changes_no_answer(after_s: float) -> None:
    """Beside a history with everything in it, cycles a tenth of a second apart."""
    whole: list[Recommendation] = []
    history = History()
    for at in range(2000):
        at_s, needed = at / 10.0, 1 + (at * 7919 % 13 == 0) + (at == 1400) * 3
        history = recommend(history, needed, SLOW, at_s)
        whole.append(Recommendation(at_s=at_s, executors=needed))
    at_s = 199.9 + after_s
    history = recommend(history, 1, SLOW, at_s)
    every = [one.executors for one in whole if one.at_s > at_s - 60.0] + [1]
    assert len(history.recommendations) <= 6 * PARTS
    assert stabilised(history, 1, SLOW, at_s)[1] == max(every)


def test_scaling_in_needs_more_calm_than_staying() -> None:
    three = Fleet(ready=3, wanted=3, marked=0)
    border = Need(executors=2, calm=3, why="a test")
    assert within_tolerance(border, three).executors == 3
    assert within_tolerance(Need(executors=2, calm=2, why="a test"), three).executors == 2
    assert within_tolerance(Need(executors=4, calm=5, why="a test"), three).executors == 4
