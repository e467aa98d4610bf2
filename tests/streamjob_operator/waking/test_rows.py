"""Changes in a series of batches: seen soon, told once, and not seen in noise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from batch_rows import PERIOD, rows, world

from streamjob_operator.events import EventKind
from streamjob_operator.series import BatchSeries
from streamjob_operator.waking.rows import change_times_s, changed, moves_measured


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
