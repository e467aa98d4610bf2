"""Windows where clocks are set: each begins once, lasts as long as it says, and hourly ones come in every hour."""

from __future__ import annotations

import datetime
import itertools

import pytest

from streamjob_operator.spec import Window
from streamjob_operator.steps.windows import is_open

LOOK_S = 300
SET_BACK, SET_FORWARD = datetime.date(2026, 10, 25), datetime.date(2026, 3, 29)
"""Days of Europe/Berlin on which 03:00 becomes 02:00, and 02:00 becomes 03:00."""


def opened(cron: str, duration: str, day: datetime.date, zone: str = "Europe/Berlin") -> list[tuple[str, str]]:
    """When the window opens and closes from noon before that day to its noon, universal time, looked at each LOOK_S."""
    text = f'{{"cron": "{cron}", "duration": "{duration}", "deny": ["Move"], "timezone": "{zone}"}}'
    window = Window.model_validate_json(text)
    noon_s = datetime.datetime.combine(day, datetime.time(), datetime.UTC).timestamp() - 43_200
    looks = [noon_s + LOOK_S * look for look in range(86_400 // LOOK_S)]
    states = [is_open(window, at_s) for at_s in looks]
    turns = [
        at_s for at_s, (before, after) in zip(looks[1:], itertools.pairwise(states), strict=True) if before != after
    ]
    told = [datetime.datetime.fromtimestamp(at_s, datetime.UTC).strftime("%H:%M") for at_s in turns]
    assert not states[0]
    return list(zip(told[::2], told[1::2], strict=True))


@pytest.mark.parametrize(
    ("cron", "duration", "open_"),
    [
        pytest.param("30 2 * * *", "1h", ("00:30", "01:30"), id="begins in the hour that comes twice"),
        pytest.param("45 2 * * *", "30m", ("00:45", "01:15"), id="lasts into its second time"),
        pytest.param("0 2 * * *", "2h", ("00:00", "02:00"), id="begins with it"),
        pytest.param("30 1 * * *", "90m", ("23:30", "01:00"), id="begins before it"),
        pytest.param("0 3 * * *", "30m", ("02:00", "02:30"), id="begins after it"),
        pytest.param("0 22 * * *", "6h", ("20:00", "02:00"), id="lasts over it"),
    ],
)
def test_clocks_that_are_set_back_open_a_window_once(cron: str, duration: str, open_: tuple[str, str]) -> None:
    assert opened(cron, duration, SET_BACK) == [open_]


@pytest.mark.parametrize(
    ("cron", "duration", "open_"),
    [
        pytest.param("30 2 * * *", "1h", ("01:30", "02:30"), id="begins in the hour that is left out"),
        pytest.param("0 3 * * *", "30m", ("01:00", "01:30"), id="begins after it"),
        pytest.param("30 1 * * *", "90m", ("00:30", "02:00"), id="lasts over it"),
    ],
)
def test_clocks_that_are_set_forward_leave_no_window_out(cron: str, duration: str, open_: tuple[str, str]) -> None:
    assert opened(cron, duration, SET_FORWARD) == [open_]


@pytest.mark.parametrize("day", [SET_BACK, SET_FORWARD])
@pytest.mark.parametrize("cron", ["30 * * * *", "30 * * * 6,0"])
def test_an_hourly_window_comes_in_every_hour(cron: str, day: datetime.date) -> None:
    found = opened(cron, "10m", day)
    hours = [f"{hour % 24:02}" for hour in range(12, 36)]
    assert found == [(f"{hour}:30", f"{hour}:40") for hour in hours]


def test_clocks_that_are_set_back_by_half_an_hour() -> None:
    day = datetime.date(2026, 4, 5)  # 02:00 becomes 01:30, 15:00 the day before by universal time
    assert opened("45 1 * * *", "30m", day, "Australia/Lord_Howe") == [("14:45", "15:15")]
    assert opened("40 1 * * *", "10m", day, "Australia/Lord_Howe") == [("14:40", "14:50")]
