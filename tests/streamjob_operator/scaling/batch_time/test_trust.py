"""What users of autoscalers complain of, each as a small world; the rule by utilization fails in them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from situations import situation_of
from worlds import World, even, job, series_with

from streamjob_operator.scaling import registry
from streamjob_operator.scaling.batch_time.arriving import arriving
from streamjob_operator.scaling.batch_time.state import State as BatchTimeState
from streamjob_operator.scaling.batch_time.steady import Call, settle
from streamjob_operator.scaling.rule import Fleet, Situation, State, Wish
from streamjob_operator.values import Lag, Memory, Snapshot
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.batch.learned import Learned

POLICY = job(("max: 6", "max: 40"))
BOTH = pytest.mark.parametrize(
    "name", ["batch-time", pytest.param("utilization", marks=pytest.mark.xfail(strict=True))]
)


def seen(world: World, at_s: float, **rates: float | None) -> Snapshot:
    """The world's last ten seconds, with figures of the source replaced."""
    world.now_s = at_s
    snapshot = world.observe(at_s, 10.0)
    return dataclasses.replace(snapshot, rates=dataclasses.replace(snapshot.rates, **rates))  # type: ignore[arg-type]


def told(snapshot: Snapshot, lag_before: float | None = None, **fleet: int) -> Situation:
    """The situation; `lag_before` is what the source's lag was ten seconds ago."""
    lag = None if lag_before is None else Lag(at_s=snapshot.taken_at_s - 10.0, rows=lag_before)
    return situation_of(snapshot, policy=POLICY, memory=Memory(lag=lag), **fleet)  # type: ignore[arg-type]


@BOTH
def test_none_leaves_while_the_lag_grows(name: str) -> None:
    """Slots are busy to 20 percent, and 1.3 times of what is taken arrives: something else is short."""
    rule, state, world = registry.get(name), None, even(4, 2, 10.0)
    for cycle in range(8):
        lag = 1000.0 + 300.0 * cycle
        wish, state = rule.decide(told(seen(world, 1000.0 + 10.0 * cycle, lag_rows=lag), lag - 300.0), state)
        assert wish.executors >= 4


@BOTH
def test_no_more_are_asked_for_while_those_asked_for_are_coming(name: str) -> None:
    """The lag grows by 250 rows/s for as long as three executors are alone, as was to be expected."""
    rule, state, world, wanted = registry.get(name), None, even(3, 8, 12.0), 3
    wishes: list[int] = []
    for cycle in range(8):
        lag = 500.0 + 2500.0 * cycle
        snapshot = seen(world, 1000.0 + 10.0 * cycle, lag_rows=lag)
        wish, state = rule.decide(told(snapshot, lag - 2500.0, wanted=wanted, ready=3), state)
        wanted = max(wanted, wish.executors)
        wishes.append(wanted)
    assert wishes[1] > 3
    assert wishes[1:] == [wishes[1]] * 7


@BOTH
def test_a_skew_that_no_executor_can_help_asks_for_none(name: str) -> None:
    """One key group keeps its slot busy all the time, and falls behind; the others have little to do."""
    world = even(3, 2, 15.0)
    world.loads[0] = 98.0
    rule, state = registry.get(name), None
    for cycle in range(4):
        lag = 1000.0 + 600.0 * cycle
        wish, state = rule.decide(told(seen(world, 1000.0 + 10.0 * cycle, lag_rows=lag), lag - 600.0), state)
        assert wish.executors <= 3


@BOTH
def test_a_cap_of_the_source_is_no_need_for_executors(name: str) -> None:
    """Batches of 200 rows each, whatever waits: they end within their trigger, and the lag grows."""
    world, rule, state = even(3, 4, 14.0), registry.get(name), None
    for cycle in range(4):
        at_s, lag = 1000.0 + 10.0 * cycle, 5000.0 + 800.0 * cycle
        row_s = np.full(12, 2.0)
        snapshot = dataclasses.replace(
            seen(world, at_s, lag_rows=lag, trigger_interval_s=2.0),
            series=series_with(np.full((12, 12), 0.28), row_s=row_s, ended_s=at_s),
        )
        wish, state = rule.decide(told(snapshot, lag - 800.0), state)
        assert wish.executors <= 3


@BOTH
def test_a_job_that_moves_in_each_period_still_grows(name: str) -> None:
    """Batches of 2.2 s for each 2 s, of which planning takes one; slots are busy to 60 percent."""
    world, rule, state = even(2, 8, 7.5), registry.get(name), None
    memory = Memory(batches=Knowledge(fixed_s=Learned(mean=1.0)))
    for cycle in range(4):
        snapshot = seen(world, 1000.0 + 10.0 * cycle, trigger_interval_s=2.0, mean_batch_s=2.2, lag_rows=0.0)
        moving = situation_of(dataclasses.replace(snapshot, moves_pending=2), policy=POLICY, memory=memory)
        wish, state = rule.decide(dataclasses.replace(moving, settled=False), state)
    assert wish.executors == 4  # three take 1.9 s, and may well take more than 2


def grown(state: State | None) -> tuple[Wish, State]:
    """A look at two executors that are much too few."""
    return registry.get("batch-time").decide(told(seen(even(2, 8, 15.0), 1000.0, trigger_interval_s=2.0)), state)


def test_what_was_asked_for_is_known_once_it_is_wanted() -> None:
    wish, state = grown(None)
    assert wish.executors > 2
    after = told(seen(even(2, 8, 15.0), 1010.0, trigger_interval_s=2.0), wanted=wish.executors, ready=2)
    _, state = registry.get("batch-time").decide(after, state)
    assert state["asked"]["executors"] == wish.executors
    assert state["ledger"][-1]["before"] == 2
    ignored = told(seen(even(2, 8, 15.0), 1010.0, trigger_interval_s=2.0))
    _, state = registry.get("batch-time").decide(ignored, grown(None)[1])
    assert state["ledger"] == []


def test_one_measurement_takes_nobody_away_however_often_it_is_looked_at() -> None:
    """A batch runs for ten minutes; until it ends all that is known is one window in which little was to be done."""
    rule, state, calm = registry.get("batch-time"), None, told(seen(even(4, 2, 5.0), 1000.0, trigger_interval_s=10.0))
    calm = dataclasses.replace(calm, job=job(("max: 6", "max: 40"), ("down: 0s", "down: 8s")))
    for look in range(60):
        wish, state = rule.decide(dataclasses.replace(calm, now_s=1000.0 + 10.0 * look), state)
        assert wish.needed < 4
        assert wish.executors == 4


def test_who_was_there_for_a_backlog_leaves_once_it_is_gone() -> None:
    """What the rate needs was seen all the while: the window does not begin with the end of the backlog."""
    rule, state, wishes = registry.get("batch-time"), None, []
    policy = job(("max: 6", "max: 40"), ("down: 0s", "down: 30s"))
    backlog = ((40_000.0, 1100.0), (30_000.0, 1100.0), (20_000.0, 1100.0), (10_000.0, 1100.0), (500.0, 1050.0))
    for cycle, (lag, taken) in enumerate(backlog):
        snapshot = seen(even(4, 2, 5.0), 1000.0 + 10.0 * cycle, trigger_interval_s=10.0, lag_rows=lag, input_rps=taken)
        wish, state = rule.decide(dataclasses.replace(told(snapshot), job=policy), state)
        wishes.append(wish.executors)
    assert wishes[:4] == [4] * 4, "none leaves while there is a backlog"
    assert wishes[4] < 4


def test_one_measurement_asks_for_more_once() -> None:
    """Executors come while a batch runs that began without them: nothing new is known before the next one has ended."""
    wish, state = grown(None)
    again = told(seen(even(2, 8, 15.0), 1000.0, trigger_interval_s=2.0), wanted=wish.executors, ready=wish.executors)
    for look in range(1, 12):
        later, state = registry.get("batch-time").decide(dataclasses.replace(again, now_s=1000.0 + 5.0 * look), state)
        assert later.executors == wish.executors


def test_a_surge_counts_as_much_as_the_newest_batches_show() -> None:
    """A window of 100 s at 100 rows/s, the last two batches of which came at 300: nobody waits for the mean."""
    row_s = np.full(10, 10.0)
    input_rps = np.where(np.arange(10) < 8, 100.0, 300.0)
    series = series_with(np.ones((10, 16)), row_s=row_s, ended_s=1000.0, input_rps=input_rps)
    snapshot = dataclasses.replace(seen(even(2, 8, 7.0), 1000.0, input_rps=140.0, last_batch_s=7.5), series=series)
    assert arriving(snapshot, (), 10.0).rate_rps == pytest.approx(300.0)
    pairs = dataclasses.replace(
        series_with(np.ones((5, 16)), row_s=2 * row_s[:5], ended_s=1000.0, input_rps=input_rps[::2]),
        batches=np.full(5, 2),
    )
    assert arriving(dataclasses.replace(snapshot, series=pairs), (), 10.0).rate_rps == pytest.approx(300.0)
    once = dataclasses.replace(series, input_rows=np.where(np.arange(10) < 9, 1000.0, 3000.0))
    assert arriving(dataclasses.replace(snapshot, series=once), (), 10.0).rate_rps == pytest.approx(140.0)


def test_a_query_that_waits_needs_what_its_state_needs() -> None:
    rule, state = registry.get("batch-time"), None
    for cycle in range(3):
        snapshot = seen(even(3, 2, 10.0), 1000.0 + 10.0 * cycle, idle_since_s=900.0)
        wish, state = rule.decide(told(snapshot), state)
    assert wish.needed < 3
    assert "has waited for data" in wish.why
    assert Fleet(ready=3, wanted=3, marked=0) == told(snapshot).fleet


@pytest.mark.parametrize("behind", [True, False])
def test_none_leaves_while_rows_come_faster_than_they_are_taken(behind: bool) -> None:
    """Where no number of executors keeps up, two may be as good as four; who is there stays all the same."""
    call = Call(out=4, rate_rps=900.0, calm=2, why="four fit", calm_why="two would do", behind=behind)
    policy, state, wishes = job(("max: 6", "max: 40"), ("down: 0s", "down: 30s")), BatchTimeState(), []
    for cycle in range(6):
        snapshot = seen(even(4, 2, 5.0), 1000.0 + 10.0 * cycle)
        wish, state = settle(call, situation_of(snapshot, policy=policy), state, arriving(snapshot, (), None))
        wishes.append(wish)
    assert [one.executors for one in wishes[3:]] == ([4] * 3 if behind else [2] * 3)
    assert ("faster than they are taken" in wishes[-1].why) is behind


@pytest.mark.parametrize("a_row", [1, 5])
def test_a_job_whose_data_comes_seldom_is_measured_without_a_hole(a_row: int) -> None:
    """A batch of a second each 25 s, with a period of 10 s: nothing ran between two. Five to a row ran unseen."""
    call = Call(out=4, rate_rps=9.0, calm=2, why="four fit", calm_why="two would do")
    policy, state, wishes = job(("max: 6", "max: 40"), ("down: 0s", "down: 60s")), BatchTimeState(), []
    for cycle in range(5):
        at_s = 1000.0 + 25.0 * cycle
        series = series_with(np.ones((4, 8)), row_s=np.full(4, 25.0), ended_s=at_s, input_rps=9.0)
        series = dataclasses.replace(series, batches=np.full(4, a_row), batch_s=np.full(4, float(a_row)))
        snapshot = dataclasses.replace(seen(even(4, 2, 5.0), at_s, mean_batch_s=1.0), series=series)
        wish, state = settle(call, situation_of(snapshot, policy=policy), state, arriving(snapshot, (), None))
        wishes.append(wish.executors)
    assert wishes == ([4, 4, 4, 2, 2] if a_row == 1 else [4] * 5)
