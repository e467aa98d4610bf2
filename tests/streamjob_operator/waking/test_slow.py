"""An executor that became slow is seen at its first batch or the second; noise, pauses and other loads are none."""

from __future__ import annotations

import dataclasses

import pytest
from batch_rows import OWNERS, PERIOD, SLOTS, rows, world

from streamjob_operator.events import EventKind
from streamjob_operator.waking.slow import Turned, speed_events, turned_executors
from streamjob_planners.capacity.pace import Pace

NOBODY = Turned()
KNOWN = {"2": Pace(speed=1 / 3, error=0.05, past=((1019.3, 1.0),))}
"""Slow since row 20."""


@pytest.mark.parametrize(("noise", "batches", "sure"), [(0.1, 1, 10), (0.2, 1, 8), (0.2, 2, 10), (0.3, 2, 8)])
def test_it_is_seen_at_the_first_batch_or_the_second(noise: float, batches: int, sure: int) -> None:
    seen = 0
    for seed in range(10):
        found = turned_executors(rows(world(seed, noise, 60, slow_at=40), 40 + batches), {}, None).slow
        assert found.keys() <= {"2"}
        assert all(factor == pytest.approx(3.0, rel=0.5) for factor in found.values())
        seen += len(found)
    assert seen >= sure


def test_it_is_told_once() -> None:
    found = turned_executors(rows(world(1, 0.2, 60, slow_at=40), 42), {}, None)
    (event,) = speed_events(NOBODY, found)
    assert event.kind is EventKind.EXECUTOR_SLOW
    assert event.sentence.startswith("Executor 2 is slow: its key groups take ")
    assert list(speed_events(found, found)) == []


def test_a_pause_is_no_slow_executor() -> None:
    busy_s = world(2, 0.2, 60)
    busy_s[40, [at for at, owner in enumerate(OWNERS) if owner == "2"][: SLOTS["2"]]] += 8.0
    assert [turned_executors(rows(busy_s, n), {}, None).slow for n in range(40, 50)] == [{}] * 10


@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3])
def test_noise_is_no_slow_executor(noise: float) -> None:
    busy_s = world(5, noise, 460)
    alarms = [n for n in range(PERIOD, 460) if turned_executors(rows(busy_s, n), {}, None).slow]
    assert alarms == []


def test_a_load_that_shifts_is_no_slow_executor() -> None:
    assert all(turned_executors(rows(world(seed, 0.2, 60, shift_at=40), 42), {}, None).slow == {} for seed in range(10))


def test_where_nobody_knows_who_ran_what_nobody_is_slow() -> None:
    found = dataclasses.replace(rows(world(1, 0.2, 60, slow_at=40), 42), owners=(None,) * len(OWNERS))
    assert turned_executors(found, {}, None).slow == {}


@pytest.mark.parametrize(("noise", "sure"), [(0.1, 10), (0.2, 8), (0.3, 6)])
def test_one_that_is_well_again_is_seen_at_the_second_batch(noise: float, sure: int) -> None:
    seen = 0
    for seed in range(10):
        busy_s = world(seed, noise, 60, slow_at=20, well_at=40)
        found = turned_executors(rows(busy_s, 42), KNOWN, None).well
        assert found.keys() <= {"2"}
        seen += len(found)
        # Only one that is planned for as slow can recover.
        assert turned_executors(rows(busy_s, 42), {}, None).well == {}
    assert seen >= sure


@pytest.mark.parametrize("noise", [0.1, 0.2])
def test_one_that_stays_slow_is_not_taken_for_well(noise: float) -> None:
    busy_s, long_known = world(3, noise, 360, slow_at=0), {"2": Pace(speed=1 / 3, error=0.05)}
    assert [n for n in range(PERIOD, 360) if turned_executors(rows(busy_s, n), long_known, None).well] == []


def test_that_it_is_well_is_told_once() -> None:
    found = turned_executors(rows(world(1, 0.1, 60, slow_at=20, well_at=40), 42), KNOWN, None)
    (event,) = speed_events(NOBODY, found)
    assert event.kind is EventKind.EXECUTOR_WELL
    assert event.sentence.startswith("Executor 2 is faster again: its key groups take 0.3")
    assert list(speed_events(found, found)) == []
