import datetime

import pytest
from worlds import job

from streamjob_operator.scaling.rule import Fleet, Wish, clamp
from streamjob_operator.spec import Denied, Window
from streamjob_operator.steps.scale import decide
from streamjob_operator.steps.windows import denying, is_open
from streamjob_operator.values import Memory, Reason

AUTO = job()
STEADY = Fleet(ready=3, wanted=3, marked=0)


def wish(executors: int) -> Wish:
    return Wish(executors=executors, needed=executors, why="a test")


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
    decision = decide(wish(needed), fleet, Memory(), AUTO, 1000.0)
    assert (decision.target, decision.reason, decision.needed) == (target, reason, needed)


def test_a_wish_that_waits_is_told() -> None:
    waiting = Wish(executors=3, needed=2, why="a test", held="waiting until that has held 15m")
    decision = decide(waiting, STEADY, Memory(), AUTO, 1000.0)
    assert (decision.target, decision.reason) == (3, Reason.STABILIZING)
    assert decision.message == "2 executors would do (a test); waiting until that has held 15m."


def test_bounds() -> None:
    assert [clamp(executors, AUTO) for executors in (0, 4, 10)] == [1, 4, 6]


@pytest.mark.parametrize(
    ("local", "open_"),
    [
        ("2026-03-02 07:59:59", False),
        ("2026-03-02 07:59:59.999999", False),
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
