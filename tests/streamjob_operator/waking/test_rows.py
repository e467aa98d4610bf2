"""Changes in a series of batches: told once, told from slow executors, and not seen in noise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_operator.events import EventKind
from streamjob_operator.series import BatchSeries
from streamjob_operator.waking.rows import Rows, change_times_s, changed
from streamjob_planners.model import FloatArray

EXECUTORS, GROUPS = 4, 8
OWNERS = tuple(str(at % EXECUTORS) for at in range(EXECUTORS * GROUPS))
PERIOD = 60
"""Batches of a look: three statistics periods of twenty each."""


def world(seed: int, noise: float, batches: int, shift_at: int | None = None, slow_at: int | None = None) -> FloatArray:
    """Seconds of each key group in each batch: work goes elsewhere, or executor 2 takes twice as long."""
    rng = np.random.default_rng(seed)
    mean_s = rng.lognormal(0.0, 0.5, len(OWNERS))
    busy_s = np.tile(mean_s, (batches, 1))
    if shift_at is not None:
        busy_s[shift_at:, : len(OWNERS) // 4] += mean_s.sum() / (2 * len(OWNERS) // 4)
    if slow_at is not None:
        busy_s[slow_at:, [at for at, owner in enumerate(OWNERS) if owner == "2"]] *= 2.0
    whole = rng.lognormal(0.0, noise / 2, (batches, 1))
    return np.asarray(busy_s * whole * rng.lognormal(0.0, noise, busy_s.shape), dtype=np.float64)


def rows(busy_s: FloatArray, until: int) -> Rows:
    """What is at hand when batch `until` has ended; a batch is a second."""
    begin = max(0, until - PERIOD)
    part = busy_s[begin:until]
    ended_at_s = 1000.3 + np.arange(begin, until)
    ones = np.ones(len(part))
    series = BatchSeries(
        ended_at_s=ended_at_s, row_s=ones, batches=ones.astype(np.int64), batch_s=part.sum(axis=1), busy_s=part
    )
    return Rows(series=series, owners=OWNERS)


@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3])
def test_a_load_that_shifts_is_seen_at_the_second_batch(noise: float) -> None:
    seen = []
    for seed in range(20):
        busy_s = world(seed, noise, 60, shift_at=40)
        found = next(n for n in range(40, 61) if changed((), rows(busy_s, n)) is not None)
        seen.append(found - 40)
    assert min(seen) == np.median(seen) == 2
    assert max(seen) <= 3


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
    assert [changed(known_s, rows(busy_s, n)) for n in range(43, 80)] == [None] * 37


@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3])
def test_noise_is_no_change(noise: float) -> None:
    looks, alarms, known_s = 0, 0, ()
    for seed in range(4):
        busy_s = world(100 + seed, noise, 400)
        for n in range(PERIOD, 400):
            found, looks = rows(busy_s, n), looks + 1
            if changed(known_s, found) is not None:
                alarms, known_s = alarms + 1, change_times_s(found.series)
    assert alarms < looks / 1000


@pytest.mark.parametrize("seed", range(5))
def test_an_executor_that_became_slow_is_told_as_that(seed: int) -> None:
    event = changed((), rows(world(seed, 0.2, 60, slow_at=40), 43))
    assert event is not None
    assert event.kind is EventKind.EXECUTOR_SLOW
    assert event.sentence.startswith("Executor 2 is slow: its key groups take ")


def test_without_owners_a_slow_executor_is_a_load_that_changed() -> None:
    found = dataclasses.replace(rows(world(1, 0.2, 60, slow_at=40), 43), owners=(None,) * len(OWNERS))
    event = changed((), found)
    assert event is not None
    assert event.kind is EventKind.LOAD_CHANGED


def test_a_load_that_swings_wakes_nobody() -> None:
    busy_s = np.concatenate([np.roll(world(7, 0.05, 8), 9 * (turn % 2), axis=1) for turn in range(5)])
    found = rows(busy_s, len(busy_s))
    assert len(change_times_s(found.series)) > 2
    assert changed((), found) is None
