"""How long fewer executors must have been enough where nobody says: what coming back costs, longer after regrets."""

from __future__ import annotations

import pytest

from streamjob_operator.scaling.batch_time import calm, patience
from streamjob_operator.scaling.batch_time.state import Action, Calm, Leaving, Line
from streamjob_operator.spec.policies import Scaling

UNSAID = Scaling.model_validate({"catchUp": "8m"})


def change(at_s: float, before: int, after: int) -> Action:
    line = Line(fixed_s=1.0, row_s=0.0)
    return Action(at_s=at_s, before=before, after=after, rate_rps=1.0, without=line, predicted=line, late_ratio=0.0)


def taught(*changes: tuple[float, int, int]) -> Leaving:
    leaving = Leaving()
    for one in changes:
        leaving = patience.with_action(leaving, change(*one))
    return leaving


@pytest.mark.parametrize("down_s", [0.0, 30.0, 3600.0])
def test_a_window_that_a_person_gave_is_kept_to_the_second(down_s: float) -> None:
    given = Scaling.model_validate({"stabilization": {"down": f"{down_s:g}s"}})
    for leaving in (Leaving(), Leaving(regretted_at_s=0.0)):
        assert patience.window_s(given, leaving, 60.0, 1.0) == down_s


@pytest.mark.parametrize(("now_s", "window_s"), [(1000.0, 900.0), (4599.0, 900.0), (4600.0, 300.0)])
def test_without_one_it_is_what_having_them_back_takes(now_s: float, window_s: float) -> None:
    """A minute until they are there, and half of eight until what gathered is gone; more for an hour after a regret."""
    assert patience.window_s(UNSAID, Leaving(), 60.0, now_s) == 300.0
    assert patience.window_s(UNSAID, Leaving(regretted_at_s=1000.0), 60.0, now_s) == window_s


def test_what_takes_long_to_have_back_is_kept_a_quarter_of_an_hour() -> None:
    assert patience.window_s(UNSAID, Leaving(), 1200.0, 0.0) == 900.0


def test_who_is_asked_for_again_soon_was_let_go_too_early() -> None:
    assert taught((0.0, 6, 4), (899.0, 4, 6)).regretted_at_s == 899.0
    assert taught((0.0, 6, 4), (901.0, 4, 6)).regretted_at_s is None
    assert taught((0.0, 4, 6)).regretted_at_s is None
    assert taught((0.0, 6, 4), (300.0, 4, 6), (2000.0, 6, 5)).regretted_at_s == 300.0


def test_who_asks_for_many_more_than_there_were_missed_none_of_them() -> None:
    """Of 18 that a surge needs one had left half a minute before: the job's load does not come back, it is another."""
    assert taught((0.0, 10, 9), (30.0, 9, 27)).regretted_at_s is None
    assert taught((0.0, 10, 7), (30.0, 7, 13)).regretted_at_s == 30.0
    assert taught((0.0, 10, 7), (30.0, 7, 14)).regretted_at_s is None


def test_those_that_left_one_after_the_other_left_together() -> None:
    assert taught((0.0, 9, 8), (300.0, 8, 7), (600.0, 7, 11)).regretted_at_s == 600.0
    assert taught((0.0, 9, 8), (1000.0, 8, 7), (1300.0, 7, 11)).regretted_at_s is None


def test_a_shorter_window_looks_at_the_newest_part_of_a_longer_one() -> None:
    seen = Calm()
    for number, wish in enumerate([9, 9, 9, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2]):
        seen = calm.with_wish(seen, wish, 60.0 * number, 60.0, 900.0)
    assert [calm.downwards(seen, 9, down_s) for down_s in (0.0, 300.0, 480.0, 720.0, 900.0)] == [2, 2, 4, 9, 9]
