"""What batches tell of a rate that rises while they run."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from situations import situation_of
from worlds import even, job, series_with

from streamjob_operator.scaling import registry
from streamjob_operator.scaling.batch_time.arriving import arriving
from streamjob_operator.scaling.batch_time.came import came
from streamjob_operator.scaling.batch_time.state import LagSeen
from streamjob_operator.values import Memory, RunningBatch, Snapshot

POLICY_AT_ONCE = job(("max: 6", "max: 40"))
POLICY = job(("max: 6", "max: 40"), ("down: 0s", "down: 30s"))


def seen(*rps: float, lag_rows: float | None = None, at_s: float = 1000.0, executors: int = 2) -> Snapshot:
    """Batches of 7.5 s each 10 s, before which so many rows a second came."""
    world = even(executors, 8, 7.0)
    world.now_s = at_s
    taken = np.array(rps)
    series = series_with(
        np.ones((taken.size, 8 * executors)), row_s=np.full(taken.size, 10.0), ended_s=at_s, input_rps=taken
    )
    found = world.observe(at_s, 10.0)
    rates = dataclasses.replace(found.rates, input_rps=float(taken[-3:].mean()), last_batch_s=7.5)
    rates = dataclasses.replace(rates, lag_rows=lag_rows, trigger_interval_s=10.0)
    return dataclasses.replace(found, rates=rates, series=series)


def test_what_waits_came_while_the_newest_batch_ran() -> None:
    known = came(seen(100.0, 100.0, 150.0, lag_rows=1500.0), capped=False)
    assert known is not None
    assert known.rps.tolist() == pytest.approx([100.0, 150.0, 200.0])
    assert known.at_s[-2:].tolist() == pytest.approx([1000.0 - 12.5, 1000.0 - 3.75])


@pytest.mark.parametrize("lag_rows", [None, 0.0, 300.0])
def test_a_source_that_was_asked_when_the_batch_began_tells_nothing_of_it(lag_rows: float | None) -> None:
    known = came(seen(100.0, 100.0, 150.0, lag_rows=lag_rows), capped=False)
    assert known is not None
    assert known.rps.tolist() == pytest.approx([100.0, 150.0])


def merged(*together: int, length_s: tuple[float, ...], trigger_s: float | None = 10.0) -> Snapshot:
    """Batches one right after another, before which 100 rows a second came, each as long as said; so many of them in
    each row of the series, as where key groups are many."""
    lengths, ends = np.array(length_s), 1000.0 - np.append(np.cumsum(length_s[:0:-1])[::-1], 0.0)
    rows = 100.0 * np.append(lengths[:1], lengths[:-1])
    last = np.cumsum(together) - 1
    of_row = np.repeat(np.arange(len(together)), together)
    found, batch_s = seen(*[100.0] * len(together)), np.bincount(of_row, lengths)
    assert found.series is not None
    series = dataclasses.replace(
        found.series,
        ended_at_s=ends[last],
        row_s=batch_s,
        batches=np.array(together),
        batch_s=batch_s,
        input_rows=np.bincount(of_row, rows),
    )
    rates = dataclasses.replace(found.rates, last_batch_s=float(lengths[-1]), trigger_interval_s=trigger_s)
    return dataclasses.replace(found, rates=rates, series=series)


def test_batches_of_a_backlog_that_share_a_row_are_no_rise() -> None:
    """The second row has a batch of 34 and one of 62 s: by their mean the newer one began 14 s late, so that 63 and
    then 103 rows a second came before batches in place of 100."""
    known = came(merged(1, 1, 2, 1, length_s=(10.0, 20.0, 34.0, 62.0, 94.0)), capped=True)
    assert known is not None
    assert known.rps.tolist() == pytest.approx([100.0, 100.0])
    assert known.batches.tolist() == [1, 3]


@pytest.mark.parametrize("trigger_s", [None, 10.0])
def test_batches_in_time_that_share_a_row_tell_by_their_mean(trigger_s: float | None) -> None:
    known = came(merged(2, 2, 2, 1, length_s=(9.0,) * 7, trigger_s=trigger_s), capped=True)
    assert known is not None
    assert known.rps.tolist() == pytest.approx([100.0, 100.0, 100.0])
    assert known.batches.tolist() == [2, 2, 1]


def test_nothing_is_told_where_only_the_newest_batch_has_a_known_beginning() -> None:
    assert came(merged(2, 2, length_s=(12.0, 30.0, 12.0, 30.0)), capped=True) is None


def running(snapshot: Snapshot, rows: float, after_s: float = 2.5) -> Snapshot:
    """The same while a batch of so many rows runs, which began so long after the newest one's end."""
    began_s = snapshot.rates.last_batch_at_s + after_s
    rates = dataclasses.replace(snapshot.rates, running=RunningBatch(began_at_s=began_s, rows=rows))
    return dataclasses.replace(snapshot, rates=rates)


@pytest.mark.parametrize("lag_rows", [None, 0.0, 1500.0])
def test_the_batch_that_runs_tells_what_came_since_the_one_before_it_began(lag_rows: float | None) -> None:
    known = came(running(seen(100.0, 100.0, 150.0, lag_rows=lag_rows), 2000.0), capped=False)
    assert known is not None
    assert known.rps.tolist() == pytest.approx([100.0, 150.0, 200.0])
    assert known.at_s[-1] == pytest.approx(1000.0 - 2.5)


def test_a_batch_with_fewer_rows_may_not_have_read_all_of_them() -> None:
    known = came(running(seen(100.0, 100.0, 150.0), 1400.0), capped=False)
    assert known is not None
    assert known.rps.tolist() == pytest.approx([100.0, 150.0])


def test_behind_a_cap_the_batch_that_runs_tells_nothing() -> None:
    known = came(running(seen(100.0, 100.0, 150.0), 2000.0), capped=True)
    assert known is not None
    assert known.rps.tolist() == pytest.approx([100.0, 150.0])


def test_a_batch_that_began_before_the_newest_one_is_of_another_reading() -> None:
    known = came(running(seen(100.0, 100.0, 150.0), 2000.0, after_s=-8.0), capped=False)
    assert known is not None
    assert known.rps.tolist() == pytest.approx([100.0, 150.0])


def test_a_surge_is_known_while_its_second_batch_runs() -> None:
    assert arriving(running(seen(100.0, 100.0, 100.0, 300.0), 3000.0), (), 10.0).rate_rps == pytest.approx(300.0)


def test_what_the_batch_that_runs_began_with_counts_as_waiting() -> None:
    quiet = arriving(running(seen(100.0, 100.0, 100.0), 1000.0), (), 10.0)
    assert (quiet.waiting_rows, quiet.backlog_rows) == (1000.0, 0.0)
    behind = arriving(running(seen(100.0, 100.0, 100.0), 9000.0), (), 10.0)
    assert behind.waiting_rows == 9000.0
    assert behind.backlog_rows == pytest.approx(9000.0 - 1.5 * 1000.0)


def test_batches_that_work_off_what_gathered_in_a_long_one_are_no_higher_rate() -> None:
    """Seen on real Spark, from files: 2,970 rows that came during a batch of 8 s were taken in 5.1 s. No number of
    executors keeps up with that rate, so that one of four seemed to be of no use."""
    found = merged(1, 1, 1, 1, length_s=(10.0, 40.0, 20.0, 10.0), trigger_s=None)
    for window_s in (10.0, 30.0):
        taken_rps = 2000.0 / 10.0 if window_s == 10.0 else 6000.0 / 30.0
        window = dataclasses.replace(found, window_s=window_s)
        window = dataclasses.replace(window, rates=dataclasses.replace(found.rates, input_rps=taken_rps))
        assert arriving(window, (), None).rate_rps == pytest.approx(100.0)


def lags(*rows: float, at_s: float = 1000.0, every_s: float = 20.0) -> tuple[LagSeen, ...]:
    """Readings of the lag up to a moment, oldest first."""
    return tuple(LagSeen(at_s=at_s - every_s * ago, rows=one) for ago, one in reversed(list(enumerate(rows[::-1]))))


def test_a_backlog_that_went_before_the_window_is_no_part_of_its_rate() -> None:
    """100 rows/s; 4,000 rows that waited went within 20 s, and the window is of the 20 s after that. The reading that
    is nearest to its begin is from before: by the window's batches and that reading 20 rows/s came."""
    calm = dataclasses.replace(seen(100.0, 300.0, 300.0, 100.0, 100.0, 100.0), window_s=20.0)
    calm = dataclasses.replace(calm, rates=dataclasses.replace(calm.rates, input_rps=100.0))
    assert arriving(calm, lags(4000.0, 0.0, every_s=50.0), 10.0).rate_rps == pytest.approx(100.0)


def test_where_the_batches_do_not_go_back_to_a_reading_those_of_the_window_count() -> None:
    later = seen(100.0, 100.0, 100.0)
    assert arriving(later, lags(0.0, 6000.0, every_s=60.0), 10.0).rate_rps == pytest.approx(200.0)


def test_behind_a_cap_what_waits_came_at_any_time() -> None:
    known = came(seen(100.0, 100.0, 100.0, lag_rows=9e5), capped=True)
    assert known is not None
    assert known.rps.tolist() == pytest.approx([100.0, 100.0])


def test_one_batch_tells_nothing() -> None:
    assert came(seen(100.0, lag_rows=1500.0), capped=False) is None


def test_a_surge_is_known_by_one_batch_and_what_waits_behind_it() -> None:
    one = seen(100.0, 100.0, 100.0, 300.0, lag_rows=2250.0)
    assert arriving(one, (), 10.0).rate_rps == pytest.approx(300.0)
    assert arriving(seen(100.0, 100.0, 100.0, 300.0), (), 10.0).rate_rps < 200.0


def test_a_rise_asks_for_those_whom_it_will_need() -> None:
    """30 rows/s more in each batch, for as long as it has risen: from 200 to 290 at the slower of the newest paces."""
    rising = seen(100.0, 100.0, 100.0, 135.0, 170.0, 200.0)
    wish, _ = registry.get("batch-time").decide(situation_of(rising, policy=POLICY), None)
    assert "at 290 rows/s (expected as it rises from batch to batch)" in wish.why


def test_without_forecasts_a_rise_counts_as_far_as_it_came() -> None:
    scaling = POLICY.spec.scaling.model_copy(update={"forecast": False})
    plain = POLICY.model_copy(update={"spec": POLICY.spec.model_copy(update={"scaling": scaling})})
    rising = seen(100.0, 100.0, 100.0, 135.0, 170.0, 200.0)
    wish, _ = registry.get("batch-time").decide(situation_of(rising, policy=plain), None)
    assert "rises" not in wish.why


def test_none_leaves_into_a_steep_rise() -> None:
    """Three would do for the 200 rows/s of now; nobody knows how far they rise."""
    for rates, executors in (((200.0,) * 6, 3), ((100.0, 100.0, 100.0, 135.0, 170.0, 200.0), 4)):
        taken, found = np.array(rates), seen(*rates, executors=4)
        work = np.ones((taken.size, 32)) * (taken / taken.mean())[:, None]
        series = series_with(work, row_s=np.full(taken.size, 10.0), ended_s=1000.0, input_rps=taken)
        newest = dataclasses.replace(found.rates, input_rps=200.0)
        found = dataclasses.replace(found, rates=newest, series=series)
        wish, _ = registry.get("batch-time").decide(situation_of(found, policy=POLICY_AT_ONCE), None)
        assert wish.executors == executors
        assert ("none may leave while the rate rises steeply" in wish.why) is (executors == 4)


def test_executors_without_a_share_are_no_loss() -> None:
    """Those asked for while others take their share come without one: that kept all of them for a second window."""
    for memory, doubt in ((Memory(stirred_at_s=990.0), False), (Memory(lost_at_s=990.0), True)):
        calm = situation_of(seen(*[20.0] * 6), policy=POLICY, memory=memory, wanted=2, ready=2)
        wish, _ = registry.get("batch-time").decide(calm, None)
        assert ("of a loss of executors" in wish.why) is doubt
