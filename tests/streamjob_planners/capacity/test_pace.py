"""Executors that become slow are seen by their own key groups; quiet fleets, stragglers and shifted loads are not."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.capacity.pace import Pace, Paces, Seen, with_window
from streamjob_planners.model import FloatArray, IntArray

NAMES = ("a", "b", "c", "d")
EVEN = np.arange(16) % 4


def window(slowness: FloatArray, rng: np.random.Generator, executor: IntArray = EVEN, deviation: float = 0.1) -> Seen:
    """Groups whose tasks took so many times longer than usual, (n_groups,), with chance."""
    n = executor.size
    took = slowness * rng.lognormal(0.0, deviation, n)
    return Seen(
        executor=executor,
        off=np.log(took / took.mean()),
        sample_variance=np.full(n, deviation**2),
        base_variance=np.full(n, deviation**2 / 10),
    )


def slow(factor: float, executor: int = 2, owners: IntArray = EVEN) -> FloatArray:
    return np.where(owners == executor, factor, 1.0)


def known(speed: float) -> dict[str, Pace]:
    return {"c": Pace(speed=speed, error=0.1)}


def test_one_window_is_a_suspicion_and_two_are_a_slow_executor() -> None:
    rng = np.random.default_rng(1)
    quiet = with_window({}, NAMES, window(slow(1.0), rng))
    once = with_window(quiet.by_executor, NAMES, window(slow(3.0), rng))
    assert once.suspected
    assert once.by_executor["c"].speed == 1.0
    twice = with_window(once.by_executor, NAMES, window(slow(3.0), rng))
    assert not twice.suspected
    found = twice.by_executor["c"]
    assert found.speed == pytest.approx(1 / 3, rel=0.2)
    assert found.low < 1 / 3 < found.high < 1.0


@pytest.mark.parametrize("executors", [2, 4])
def test_what_is_just_noticed_is_waited_for_where_most_executors_say_what_is_usual(executors: int) -> None:
    owners, rng = np.arange(4 * executors) % executors, np.random.default_rng(6)
    seen = window(slow(2.0, 1, owners), rng, owners, deviation=0.5)
    assert with_window({}, NAMES[:executors], seen).suspected == (executors > 2)


def test_a_pause_of_one_window_is_forgotten() -> None:
    rng = np.random.default_rng(1)
    paces = with_window({}, NAMES, window(slow(3.0), rng))
    for _ in range(3):
        paces = with_window(paces.by_executor, NAMES, window(slow(1.0), rng))
    assert all(one.speed == 1.0 for one in paces.by_executor.values())


def test_a_recovered_executor_is_at_1_again_even_by_a_single_group() -> None:
    rng, owners = np.random.default_rng(3), np.array([0] * 5 + [1] * 5 + [3] * 5 + [2])
    paces = Paces(by_executor=known(1 / 3))
    for _ in range(4):
        # Its task is counted at a third, and takes a third of that.
        speed = paces.by_executor["c"].speed if "c" in paces.by_executor else 1.0
        paces = with_window(paces.by_executor, NAMES, window(slow(speed, owners=owners), rng, owners))
    assert "c" not in paces.by_executor or paces.by_executor["c"].speed == 1.0


def test_an_executor_without_groups_is_believed_to_recover() -> None:
    rng, owners = np.random.default_rng(3), np.array([0, 0, 0, 1, 1, 1, 3, 3, 3])
    paces = Paces(by_executor=known(1 / 3))
    for _ in range(12):
        paces = with_window(paces.by_executor, NAMES, window(np.ones(9), rng, owners))
    assert "c" not in paces.by_executor


def test_load_that_grows_on_one_key_group_makes_nobody_slow() -> None:
    rng, heavy = np.random.default_rng(4), np.ones(16)
    heavy[[2, 6]] = 5.0  # two of the four on executor c
    paces = Paces(by_executor={})
    for _ in range(5):
        paces = with_window(paces.by_executor, NAMES, window(heavy, rng))
    assert all(one.speed == 1.0 for one in paces.by_executor.values())


def test_two_groups_are_too_few_to_call_an_executor_slow() -> None:
    rng, owners = np.random.default_rng(5), np.array([0] * 5 + [1] * 5 + [2] * 2 + [3] * 5)
    paces = Paces(by_executor={})
    for _ in range(5):
        paces = with_window(paces.by_executor, NAMES, window(slow(3.0, owners=owners), rng, owners))
    assert all(one.speed == 1.0 for one in paces.by_executor.values())


def test_of_two_executors_the_slower_one_is_slow() -> None:
    rng, owners = np.random.default_rng(6), np.arange(12) % 2
    paces = Paces(by_executor={})
    for _ in range(2):
        paces = with_window(paces.by_executor, ("a", "b"), window(slow(3.0, 1, owners), rng, owners))
    assert [name for name, one in paces.by_executor.items() if one.speed != 1.0] == ["b"]


@pytest.mark.parametrize("deviation", [0.1, 0.5])
def test_a_quiet_fleet_of_a_thousand_windows_has_no_slow_executor(deviation: float) -> None:
    rng, paces = np.random.default_rng(7), Paces(by_executor={})
    for _ in range(1000):
        paces = with_window(paces.by_executor, NAMES, window(np.ones(16), rng, deviation=deviation))
        assert all(one.speed == 1.0 for one in paces.by_executor.values())


def test_executors_that_are_gone_are_forgotten() -> None:
    rng, owners = np.random.default_rng(8), np.array([0, 0, 0, 1, 1, 1])
    assert "c" not in with_window(known(0.3), ("a", "b"), window(np.ones(6), rng, owners)).by_executor
