"""Speeds by own key groups where tasks vary as much as on a busy machine: a slow executor is not learned as load."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.capacity.own_groups import OwnGroups
from streamjob_planners.capacity.window import Window
from streamjob_planners.model import FloatArray, IntArray

NAMES = ("a", "b", "c", "d")
N_GROUPS, QUIET = 20, 16
EVEN = np.arange(N_GROUPS) % len(NAMES)
WELL, SLOW = np.ones(4), np.array([1.0, 1.0, 1 / 3, 1.0])


RELIEVED = np.repeat((0, 1, 3, 2), (6, 6, 6, 2))


def window(rng: np.random.Generator, speed: FloatArray, noise: float, owner: IntArray = EVEN) -> Window:
    """One batch of equal key groups."""
    return Window(
        executors=NAMES,
        slots=np.ones(4, dtype=np.int64),
        operator=np.zeros(N_GROUPS, dtype=np.int64),
        partition=np.arange(N_GROUPS),
        owner=owner,
        task_s=rng.lognormal(0.0, noise, N_GROUPS) / speed[owner],
        rows=np.ones(N_GROUPS),
        moved=np.zeros(N_GROUPS, dtype=np.bool_),
    )


def windows_until_known(seed: int, noise: float, most: int) -> int | None:
    """Windows after an executor became three times as slow until that was known; None: not within so many."""
    rng, known = np.random.default_rng(seed), OwnGroups()
    for _ in range(QUIET):
        known = known.observed(window(rng, WELL, noise))
        assert (known.speeds(NAMES) == 1.0).all()
    for after in range(1, most + 1):
        known = known.observed(window(rng, SLOW, noise))
        if (known.speeds(NAMES) < 0.8).tolist() == [False, False, True, False]:
            return after
    return None


@pytest.mark.parametrize(("noise", "most"), [(0.1, 2), (0.2, 2), (0.3, 4)])
def test_a_slow_executor_is_known_in_every_world(noise: float, most: int) -> None:
    found = [windows_until_known(seed, noise, most) for seed in range(40)]
    assert found.count(None) == 0


def test_with_tasks_that_vary_by_chance_as_much_as_by_the_factor_most_are_known() -> None:
    found = [windows_until_known(seed, 0.4, 6) for seed in range(40)]
    assert found.count(None) <= 8


def windows_until_trusted(seed: int, noise: float) -> int:
    """Windows after a relieved executor with two key groups has recovered until nearly all of its speed counts."""
    rng, known = np.random.default_rng(seed), OwnGroups()
    story = ((QUIET, WELL, EVEN), (6, SLOW, EVEN), (12, SLOW, RELIEVED))
    for windows, speed, owner in story:
        for _ in range(windows):
            known = known.observed(window(rng, speed, noise, owner))
    assert known.speeds(NAMES)[2] < 0.7
    for after in range(1, 30):
        known = known.observed(window(rng, WELL, noise, RELIEVED))
        if known.speeds(NAMES)[2] > 0.8:
            return after
    raise AssertionError("never trusted again")


@pytest.mark.parametrize(("noise", "sure"), [(0.1, 40), (0.2, 36), (0.3, 34)])
def test_one_that_recovers_is_trusted_after_two_windows_though_two_key_groups_show_it(noise: float, sure: int) -> None:
    found = [windows_until_trusted(seed, noise) for seed in range(40)]
    assert sum(one <= 2 for one in found) >= sure
    assert max(found) <= 6
