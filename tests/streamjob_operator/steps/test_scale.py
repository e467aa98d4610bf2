import datetime

import pytest
from worlds import job

from streamjob_operator.spec import Denied, Window
from streamjob_operator.steps.need import Need
from streamjob_operator.steps.scale import Fleet, clamp, decide, recommend, within_tolerance
from streamjob_operator.steps.windows import denying, is_open
from streamjob_operator.values import Memory, Reason, Recommendation

AUTO = job()
SLOW = job(("up: 0s, down: 0s", "up: 20s, down: 60s"))
STEADY = Fleet(ready=3, wanted=3, marked=0)


def need(executors: int) -> Need:
    return Need(executors=executors, why="a test")


def memory(*history: tuple[float, int], **fields: object) -> Memory:
    recommendations = tuple(Recommendation(at_s=at_s, executors=executors) for at_s, executors in history)
    return Memory(recommendations=recommendations, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("needed", "fleet", "target", "reason"),
    [
        (3, STEADY, 3, Reason.BALANCED),
        (5, STEADY, 5, Reason.SCALE_OUT),
        (99, STEADY, 6, Reason.SCALE_OUT),
        (1, STEADY, 1, Reason.SCALE_IN),
        (1, Fleet(ready=3, wanted=3, marked=1), 3, Reason.DRAINING),
        (3, Fleet(ready=2, wanted=3, marked=0), 3, Reason.WAITING_FOR_EXECUTORS),
        (5, Fleet(ready=2, wanted=3, marked=0), 5, Reason.SCALE_OUT),
    ],
)
def test_targets(needed: int, fleet: Fleet, target: int, reason: Reason) -> None:
    decision = decide(need(needed), fleet, Memory(), AUTO, 1000.0)
    assert (decision.target, decision.reason, decision.needed) == (target, reason, needed)


def test_down_follows_the_largest_wish_of_its_window() -> None:
    history = memory((930.0, 3), (950.0, 1), (970.0, 2), (990.0, 1))
    decision = decide(need(1), STEADY, history, SLOW, 1000.0)
    assert (decision.target, decision.reason) == (2, Reason.SCALE_IN)


def test_up_follows_the_smallest_wish_of_its_window() -> None:
    history = memory((970.0, 3), (985.0, 4), (995.0, 6))
    decision = decide(need(5), STEADY, history, SLOW, 1000.0)
    assert (decision.target, decision.reason) == (4, Reason.SCALE_OUT)


def test_one_measurement_after_a_long_outage_does_not_scale_in() -> None:
    decision = decide(need(1), STEADY, memory((930.0, 3)), SLOW, 1000.0)
    assert (decision.target, decision.reason) == (3, Reason.STABILIZING)


@pytest.mark.parametrize("needed", [1, 6])
def test_a_history_that_does_not_cover_the_window_decides_nothing(needed: int) -> None:
    decision = decide(need(needed), STEADY, memory((995.0, needed)), SLOW, 1000.0)
    assert (decision.target, decision.reason) == (3, Reason.STABILIZING)


def test_what_was_measured_since_a_change_of_load_covers_no_time_before_it() -> None:
    """A cycle at 945 that saw one batch of less load says nothing of 940."""
    for since_s, target in ((None, 1), (935.0, 1), (944.0, 3)):
        first = Recommendation(at_s=945.0, executors=1, since_s=since_s)
        history = (Recommendation(at_s=930.0, executors=3), first, Recommendation(at_s=970.0, executors=1))
        decision = decide(need(1), STEADY, Memory(recommendations=history), SLOW, 1000.0)
        assert decision.target == target, since_s


def test_the_history_stays_short() -> None:
    remembered = Memory()
    for at_s in range(0, 1000, 5):
        recommendations = recommend(remembered, 2, SLOW, float(at_s))
        remembered = Memory(recommendations=recommendations)
    assert len(remembered.recommendations) == 13  # 60 s / 5 s, and the one before


def test_bounds() -> None:
    assert [clamp(executors, AUTO) for executors in (0, 4, 10)] == [1, 4, 6]


@pytest.mark.parametrize(
    ("local", "open_"),
    [
        ("2026-03-02 07:59:59", False),
        ("2026-03-02 08:00:00", True),
        ("2026-03-02 17:59:59", True),
        ("2026-03-02 18:00:00", False),
        ("2026-03-01 12:00:00", False),  # a Sunday
    ],
)
def test_windows_open_and_close(local: str, open_: bool) -> None:
    window = Window.model_validate_json('{"cron": "0 8 * * 1-5", "duration": "10h", "deny": ["ScaleDown"]}')
    at_s = datetime.datetime.fromisoformat(local).replace(tzinfo=datetime.UTC).timestamp()
    assert is_open(window, at_s) is open_
    assert (denying([window], Denied.SCALE_DOWN, at_s) is window) is open_
    assert denying([window], Denied.SCALE_UP, at_s) is None


def test_windows_know_their_time_zone() -> None:
    text = '{"cron": "0 8 * * *", "duration": "1h", "deny": ["Move"], "timezone": "Asia/Tokyo"}'
    at_s = datetime.datetime(2026, 3, 1, 23, 30, tzinfo=datetime.UTC).timestamp()
    assert is_open(Window.model_validate_json(text), at_s)


def test_scaling_in_needs_more_calm_than_staying() -> None:
    three = Fleet(ready=3, wanted=3, marked=0)
    border = Need(executors=2, calm=3, why="a test")
    assert within_tolerance(border, three).executors == 3
    assert within_tolerance(Need(executors=2, calm=2, why="a test"), three).executors == 2
    assert within_tolerance(Need(executors=4, calm=5, why="a test"), three).executors == 4
