"""Speeds by own key groups where tasks vary as much as on a busy machine: a slow executor is not learned as load."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.capacity.own_groups import OwnGroups
from streamjob_planners.capacity.window import Window
from streamjob_planners.model import FloatArray

NAMES = ("a", "b", "c", "d")
N_GROUPS, QUIET = 20, 16
EVEN = np.arange(N_GROUPS) % len(NAMES)
WELL, SLOW = np.ones(4), np.array([1.0, 1.0, 1 / 3, 1.0])


def window(rng: np.random.Generator, speed: FloatArray, noise: float) -> Window:
    """One batch of equal key groups."""
    return Window(
        executors=NAMES,
        slots=np.ones(4, dtype=np.int64),
        operator=np.zeros(N_GROUPS, dtype=np.int64),
        partition=np.arange(N_GROUPS),
        owner=EVEN,
        task_s=rng.lognormal(0.0, noise, N_GROUPS) / speed[EVEN],
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
