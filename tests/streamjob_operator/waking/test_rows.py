"""Changes in a series of batches: seen soon, told once, and not seen in noise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from batch_rows import PERIOD, TRIGGER_S, rows, taking, world

from streamjob_operator.events import EventKind
from streamjob_operator.series import BatchSeries
from streamjob_operator.waking.rows import backlog_gone, change_times_s, changed, moves_measured


@pytest.mark.parametrize(("noise", "usual", "most"), [(0.1, 2, 2), (0.2, 3, 4)])
def test_a_load_that_shifts_is_seen_soon(noise: float, usual: int, most: int) -> None:
    seen = []
    for seed in range(9):
        busy_s = world(seed, noise, 60, shift_at=40)
        seen.append(next(n for n in range(42, 61) if changed((), rows(busy_s, n)) is not None) - 40)
    assert np.median(seen) <= usual
    assert max(seen) <= most


def test_a_change_is_told_in_words_and_once() -> None:
    busy_s = world(3, 0.2, 80, shift_at=40)
    first = rows(busy_s, 42)
    event = changed((), first)
    assert event is not None
    assert (event.kind, event.sentence) == (
        EventKind.LOAD_CHANGED,
        "Key groups share the work differently since 2 batches.",
    )
    known_s = change_times_s(first.series)
    assert [changed(known_s, rows(busy_s, n)) for n in range(43, 80, 4)] == [None] * 10


def test_a_change_that_one_batch_shows_is_told_of_that_batch() -> None:
    busy_s = world(3, 0.05, 41)
    busy_s[40] = np.roll(busy_s[40], 8) * np.repeat([3.0, 0.3], 16)
    event = changed((), rows(busy_s, 41))
    assert event is not None
    assert event.sentence == "Key groups share the work differently since the newest batch."


def test_noise_is_no_change() -> None:
    for seed, noise in enumerate((0.1, 0.2, 0.3)):
        busy_s = world(100 + seed, noise, 160)
        for n in range(PERIOD, 160, 5):
            assert changed((), rows(busy_s, n)) is None


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_five_hundred_quiet_batches_wake_nobody(noise: float) -> None:
    quiet = 500
    busy_s, alarms, known_s = world(7, noise, PERIOD + quiet), 0, ()
    for n in range(PERIOD, PERIOD + quiet):
        found = rows(busy_s, n)
        if changed(known_s, found) is not None:
            alarms, known_s = alarms + 1, change_times_s(found.series)
    assert alarms == 0


def test_a_load_that_swings_wakes_nobody() -> None:
    busy_s = np.concatenate([np.roll(world(7, 0.05, 8), 9 * (turn % 2), axis=1) for turn in range(5)])
    found = rows(busy_s, len(busy_s))
    assert len(change_times_s(found.series)) > 2
    assert changed((), found) is None


def batches(*moved: int, busy_ratio: float = 1.0) -> BatchSeries:
    """The newest batches with so many moves each, that take so much of their time."""
    series = rows(world(7, 0.1, 10), 10).series
    all_moved = np.zeros(10, dtype=np.int64)
    all_moved[-len(moved) :] = moved
    return dataclasses.replace(series, moved=all_moved, batch_s=busy_ratio * series.row_s)


def test_the_first_batch_after_moves_is_told_once() -> None:
    series = batches(0, 12, 0)
    event = moves_measured(float(series.ended_at_s[-2]), series)
    assert event is not None
    assert (event.kind, event.sentence) == (
        EventKind.MOVES_MEASURED,
        "A batch has ended with key groups where they moved before.",
    )
    assert moves_measured(float(series.ended_at_s[-1]), series) is None


@pytest.mark.parametrize(
    ("moved", "busy_ratio"),
    [
        pytest.param((0, 0, 0), 1.0, id="none moved"),
        pytest.param((0, 12, 3), 1.0, id="more moved in it"),
        pytest.param((12, 0, 0), 1.0, id="a batch later"),
        pytest.param((0, 12, 0), 0.9, id="a job that waits between batches has time"),
    ],
)
def test_no_other_batch_tells_of_moves(moved: tuple[int, ...], busy_ratio: float) -> None:
    assert moves_measured(0.0, batches(*moved, busy_ratio=busy_ratio)) is None


def known_s(series: BatchSeries, at: int) -> float:
    """When batch `at` ended."""
    return float(series.ended_at_s[at])


def test_the_first_batch_in_time_after_a_backlog_that_was_seen_is_told_once() -> None:
    series = taking(9.0, 40.0, 25.0, 12.0, 9.3)
    event = backlog_gone(known_s(series, 1), TRIGGER_S, series)
    assert event is not None
    assert (event.kind, event.sentence) == (
        EventKind.BACKLOG_GONE,
        "The backlog is gone: a batch has taken 9.3 s of its 10 s.",
    )
    assert backlog_gone(known_s(series, 4), TRIGGER_S, series) is None


@pytest.mark.parametrize(
    ("seconds", "known"),
    [
        pytest.param((9.0, 40.0, 25.0, 12.0), 1, id="still there"),
        pytest.param((9.0, 40.0, 25.0, 9.3), 0, id="nobody has looked while it was there"),
        pytest.param((9.0, 40.0, 9.1, 25.0, 9.3), 1, id="another one"),
        pytest.param((9.0, 10.4, 10.9, 9.3), 1, id="a batch that hardly fits is no backlog"),
        pytest.param((9.0, 9.1, 9.2, 9.3), 1, id="there was none"),
    ],
)
def test_no_other_batch_tells_that_a_backlog_is_gone(seconds: tuple[float, ...], known: int) -> None:
    series = taking(*seconds)
    assert backlog_gone(known_s(series, known), TRIGGER_S, series) is None


def test_a_backlog_of_before_the_series_or_of_a_job_without_a_trigger_is_not_told() -> None:
    series = taking(40.0, 25.0, 9.3)
    assert backlog_gone(known_s(series, 0), None, series) is None
    assert backlog_gone(known_s(series, 0) - 1.0, TRIGGER_S, series) is None


def test_several_batches_of_a_row_count_by_their_mean() -> None:
    series = taking(9.0, 40.0, 25.0, 18.0)
    series = dataclasses.replace(series, batches=np.array([1, 1, 1, 2]))
    assert backlog_gone(known_s(series, 1), TRIGGER_S, series) is not None


def test_a_job_that_falls_behind_again_and_again_wakes_no_more_cycles_than_something_else_does() -> None:
    seconds, looked_at_s, by_clock, woken = (20.0, 9.0) * 30, TRIGGER_S, 0, 0
    for until in range(2, 61):
        series = taking(*seconds[:until])
        gone = backlog_gone(looked_at_s, TRIGGER_S, series) is not None
        if gone or until % 15 == 0:
            looked_at_s, woken, by_clock = known_s(series, -1), woken + gone, by_clock + (not gone)
    assert 0 < woken <= by_clock
