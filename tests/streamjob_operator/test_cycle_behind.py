"""A job that falls behind: neither price nor doubt holds back moves that shorten its batches."""

from __future__ import annotations

import pytest
from worlds import World, even, job, warm

from streamjob_operator.spec import StreamJob
from streamjob_operator.steps import worth_time
from streamjob_operator.steps.behind import TOLD
from streamjob_operator.values import Reason
from streamjob_planners.batch.doubt import Doubt

IMPATIENT = job(("min: 1, max: 6", "min: 2, max: 2"), ("mode: Auto", "mode: Auto\n    payback: 0.1"))
"""Within a tenth of a batch no move gains what it costs."""

PATIENT = job(("min: 1, max: 6", "min: 2, max: 2"))


def uneven(loads: tuple[float, ...] = (70.0, 50.0, 30.0, 20.0), **rates: float | None) -> World:
    """Batches of 2.5 s, and of 1.9 s after two moves, which cost 0.2 s each; 100 rows/s come."""
    world = even(2, 2, 20.0)
    world.loads, world.rates = list(loads), dict(rates)
    return warm(world, IMPATIENT)


def turned(world: World, *lags: float | None, of: StreamJob = IMPATIENT) -> World:
    """The world after a cycle at each of these lags, rows, one each ten seconds."""
    for lag in lags:
        world.rates["lag_rows"] = lag
        world.turn(of)
    return world


@pytest.mark.parametrize("lags", [(1000.0, 2000.0), (5000.0, 5000.0)])
def test_rows_that_wait_and_get_no_fewer_make_any_price_worth_paying(lags: tuple[float, ...]) -> None:
    first = turned(uneven(), *lags).assignments[0]
    assert first.reason is Reason.BATCH_TIME
    assert first.message.startswith("Batches take 1.9 s in place of 2.5 s; 2 moves cost 0.21 s once")
    assert first.message.endswith(TOLD)


@pytest.mark.parametrize(
    "lags",
    [
        pytest.param((None, None), id="nobody tells what waits"),
        pytest.param((200.0, 250.0), id="what arrives during a batch and a half is no backlog"),
        pytest.param((300.0, 300.0), id="nor is it where it stays"),
    ],
)
def test_a_job_that_keeps_up_pays_as_it_was_told(lags: tuple[float | None, ...]) -> None:
    assert turned(uneven(), *lags).assignments == []


def test_a_backlog_that_is_worked_off_is_no_hurry() -> None:
    assert turned(uneven(lag_rows=9000.0), 7000.0, 5000.0, 3000.0).assignments == []


def test_batches_that_overrun_their_trigger_are_behind_where_nobody_tells_what_waits() -> None:
    assert turned(uneven(trigger_interval_s=2.0), None).assignments[0].message.endswith(TOLD)
    assert turned(uneven(trigger_interval_s=3.0), None).assignments == []


def test_a_gain_that_may_be_noise_is_left_all_the_same() -> None:
    assert turned(uneven(loads=(50.0, 49.0, 49.0, 49.0)), 1000.0, 2000.0, 3000.0).assignments == []


def test_a_gain_that_is_more_than_noise_makes_in_the_mean_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of a backlog differ in size, and that counts as noise: ten minutes of surge were waited out for it."""
    monkeypatch.setattr(worth_time, "doubt_of", lambda model, plan: Doubt(mean_s=0.1, most_s=5.0))
    assert turned(uneven(), 1000.0, 2000.0).assignments[0].message.endswith(TOLD)
    assert turned(uneven(), None, None).assignments == []


def test_while_a_backlog_is_worked_off_no_certainty_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors that had come stayed uneven, and batches of a minute a fifth too long, for as long as there was one."""
    monkeypatch.setattr(worth_time, "doubt_of", lambda model, plan: Doubt(mean_s=0.1, most_s=5.0))
    first = turned(uneven(lag_rows=9000.0), 7000.0, 5000.0, of=PATIENT).assignments[0]
    assert first.reason is Reason.BATCH_TIME
    assert not first.message.endswith(TOLD), "what moves cost counts"
    assert turned(uneven(), 200.0, 250.0, of=PATIENT).assignments == []


def test_what_moves_may_add_to_a_batch_still_spreads_them() -> None:
    assert turned(uneven(), 1000.0, 2000.0).assignments[0].boundary_s == pytest.approx(3600.0), "maxCost is 1h"
