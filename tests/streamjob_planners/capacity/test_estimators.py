"""What every capacity estimator promises, on the same fleets: one executor becomes slow, and well again."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners.capacity import registry
from streamjob_planners.capacity.window import Estimator, Window
from streamjob_planners.model import FloatArray, IntArray

NAMES = ("a", "b", "c", "d")
N_GROUPS = 32
EVEN = np.arange(N_GROUPS) % len(NAMES)
EXCEPTIONS = {
    ("even", "slow"): "learns nothing",
    ("shared-groups", "at rest"): "compares executors by groups that came from one to another",
    ("blocking-rate", "once"): "looks at shares that are followed: at one that stays it only knows that it is too much",
}
"""The one place where an estimator says what it is not meant to do, and why."""


def window(
    rng: np.random.Generator, owner: IntArray, speed: FloatArray, moved: np.ndarray | None = None, noise: float = 0.05
) -> Window:
    rows = np.full(N_GROUPS, 100.0)
    return Window(
        executors=NAMES,
        slots=np.full(4, 2),
        operator=np.zeros(N_GROUPS, dtype=np.int64),
        partition=np.arange(N_GROUPS),
        owner=owner,
        task_s=rows / 100.0 / speed[owner] * rng.lognormal(0.0, noise, N_GROUPS),
        rows=rows,
        moved=np.zeros(N_GROUPS, dtype=np.bool_) if moved is None else moved,
        batches=6,
    )


def slow(factor: float = 3.0) -> FloatArray:
    return np.array([1.0, 1.0, 1.0 / factor, 1.0])


def shared_out(speed: FloatArray) -> IntArray:
    """Groups by speed, as a planner that believes it would place them, (n_groups,)."""
    cut = np.cumsum(speed) / speed.sum() * N_GROUPS
    return np.searchsorted(cut, np.arange(N_GROUPS) + 0.5).astype(np.int64)


def followed(estimator: Estimator, speed: FloatArray, windows: int, seed: int) -> Estimator:
    """Windows in which groups are placed by what the estimator says."""
    rng, owner = np.random.default_rng(seed), EVEN
    for _ in range(windows):
        estimator = estimator.observed(window(rng, owner, speed))
        now = shared_out(estimator.speeds(NAMES))
        owner = now
    return estimator


@pytest.fixture(params=registry.names())
def name(request):
    return request.param


@pytest.fixture
def promises(name):
    def ask(promise: str) -> None:
        if (name, promise) in EXCEPTIONS:
            pytest.skip(f"{name} {EXCEPTIONS[name, promise]}")

    return ask


def test_nothing_known_is_a_speed_of_1(name):
    assert registry.get(name).speeds(("x", "y")).tolist() == [1.0, 1.0]


def test_speeds_are_finite_above_0_and_strangers_are_1(name):
    found = followed(registry.get(name), slow(), 12, seed=1).speeds((*NAMES, "new"))
    assert found.shape == (5,)
    assert bool((found > 0).all() and np.isfinite(found).all())
    assert found[4] == 1.0


def test_the_same_windows_give_the_same_speeds_and_nothing_given_is_changed(name):
    rng = np.random.default_rng(3)
    windows = [window(rng, EVEN, slow()) for _ in range(4)]
    copies = [{f.name: np.copy(getattr(one, f.name)) for f in dataclasses.fields(one)} for one in windows]
    answers = []
    for _ in range(2):
        estimator = registry.get(name)
        for one in windows:
            before = estimator.speeds(NAMES).tolist()
            after = estimator.observed(one)
            assert estimator.speeds(NAMES).tolist() == before, "an estimator is a value"
            estimator = after
        answers.append(estimator.speeds(NAMES).tolist())
    assert answers[0] == answers[1]
    for one, copy in zip(windows, copies, strict=True):
        assert all(np.array_equal(getattr(one, field), values) for field, values in copy.items())


def test_a_quiet_fleet_stays_even(name):
    found = followed(registry.get(name), np.ones(4), 40, seed=4).speeds(NAMES)
    assert found == pytest.approx(np.ones(4), abs=0.25)


def test_a_slow_executor_gets_less_where_speeds_are_followed(name, promises):
    promises("slow")
    rng = np.random.default_rng(5)
    estimator = registry.get(name)
    for _ in range(4):  # a few groups change places each time, as in a job that is balanced
        moved = rng.random(N_GROUPS) < 0.2
        owner = np.where(moved, rng.integers(0, 4, N_GROUPS), EVEN)
        estimator = estimator.observed(window(rng, owner, np.ones(4), moved))
    owner = EVEN
    for _ in range(20):
        before = owner
        owner = shared_out(estimator.speeds(NAMES))
        estimator = estimator.observed(window(rng, owner, slow(), owner != before))
    found = estimator.speeds(NAMES)
    assert found[2] < 0.5 * np.median(found)


def test_a_slow_executor_is_seen_while_nothing_moves(name, promises):
    for promise in ("slow", "at rest", "once"):
        promises(promise)
    rng, estimator = np.random.default_rng(6), registry.get(name)
    for number in range(8):
        estimator = estimator.observed(window(rng, EVEN, slow() if number > 4 else np.ones(4)))
    assert estimator.speeds(NAMES)[2] == pytest.approx(1 / 3, rel=0.2)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("slots", np.zeros(4, dtype=int)),
        ("batches", 0),
        ("owner", np.full(N_GROUPS, 4)),
        ("task_s", np.full(N_GROUPS, np.nan)),
        ("rows", np.full(N_GROUPS, -1.0)),
        ("moved", np.zeros(3, dtype=bool)),
    ],
)
def test_bad_windows_are_refused_by_field(field, value):
    good = window(np.random.default_rng(0), EVEN, np.ones(4))
    with pytest.raises(ValueError, match=field):
        dataclasses.replace(good, **{field: value})


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="blocking-rate, even, own-groups, shared-groups"):
        registry.get("magic")
