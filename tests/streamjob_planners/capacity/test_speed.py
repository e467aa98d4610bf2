"""Speeds of executors: found through noise, stragglers and changing rows; unknown where nothing compares them."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.capacity.explore import Probe, probe
from streamjob_planners.capacity.speed import LEAST_S, Speed, TaskRows, cautious, comparable, speeds

SPEED = np.array([1.0, 1.0, 0.5, 1.2])


def _tasks(seed=0, *, batches=12, speed=SPEED, noise=0.1, stragglers=0.0, moves=0.3, rows_power=1.0):
    """Forty groups on four executors; now and then one moves."""
    rng = np.random.default_rng(seed)
    n_groups = 40
    cost = rng.lognormal(-6.0, 0.7, n_groups)
    node_of = rng.integers(speed.shape[-1], size=n_groups)
    parts = []
    for batch in range(batches):
        moved = rng.random(n_groups) < moves / batches
        node_of = np.where(moved, rng.integers(speed.shape[-1], size=n_groups), node_of)
        rows = rng.poisson(200, n_groups) + 1.0
        now = speed if speed.ndim == 1 else speed[batch]
        seconds = cost * rows**rows_power / now[node_of] * rng.lognormal(0.0, noise, n_groups)
        seconds *= np.where(rng.random(n_groups) < stragglers, 8.0, 1.0)
        parts.append((np.full(n_groups, batch), np.arange(n_groups), node_of, seconds, rows))
    batch, group, executor, seconds, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
    return TaskRows(batch=batch, group=group, executor=executor, seconds=seconds, rows=rows)


def _by_dummies(tasks, n_executors):
    """The same sum in logarithms, one column for every group, executor and the slope: numpy's least squares."""
    n_groups = int(tasks.group.max()) + 1
    design = np.zeros((tasks.group.size, n_groups + n_executors + 1))
    design[np.arange(tasks.group.size), tasks.group] = 1.0
    design[np.arange(tasks.group.size), n_groups + tasks.executor] = 1.0
    design[:, -1] = np.log(tasks.rows)
    found = np.linalg.lstsq(design, np.log(tasks.seconds), rcond=None)[0][n_groups:-1]
    return np.exp(-(found - np.median(found)))


def test_without_noise_speeds_are_exact():
    found = speeds(_tasks(noise=0.0), 4)
    assert [one.estimate for one in found] == pytest.approx((SPEED / np.median(SPEED)).tolist(), rel=1e-6)


def test_it_is_the_least_squares_of_all_unknowns():
    tasks = _tasks(noise=0.0)
    rng = np.random.default_rng(1)
    noisy = TaskRows(
        batch=tasks.batch,
        group=tasks.group,
        executor=tasks.executor,
        seconds=tasks.seconds * np.exp(rng.choice([-0.1, 0.1], tasks.group.size)),  # within Huber's limit: no weights
        rows=tasks.rows,
    )
    found = speeds(noisy, 4, kept_ratio=1.0)
    assert [one.estimate for one in found] == pytest.approx(_by_dummies(noisy, 4).tolist(), rel=0.01)


def test_intervals_hold_what_they_promise():
    true = SPEED / np.median(SPEED)
    held = [
        one.low <= value <= one.high
        for seed in range(40)
        for one, value in zip(speeds(_tasks(seed, moves=2.0), 4, kept_ratio=1.0), true, strict=True)
    ]
    assert np.mean(held) > 0.9


@pytest.mark.parametrize("changes", [{"stragglers": 0.05}, {"noise": 0.3}, {"rows_power": 0.4}])
def test_a_slow_one_is_found_through(changes):
    found = speeds(_tasks(3, batches=30, moves=1.0, **changes), 4)
    assert found[2].high < 0.8
    assert cautious(found)[2] < 0.8
    assert abs(found[0].estimate / found[1].estimate - 1) < 0.25


def test_a_neighbour_that_leaves_is_noticed_within_the_memory():
    speed = np.ones((60, 4))
    speed[:30, 2] = 0.5
    found = speeds(_tasks(5, batches=60, speed=speed, moves=6.0), 4)
    assert found[2].estimate == pytest.approx(1.0, abs=0.15)


def test_executors_that_shared_no_group_are_unknown():
    tasks = _tasks(0, moves=0.0)
    assert comparable(tasks, 4).size == 1
    assert speeds(tasks, 4) == (None,) * 4
    assert cautious(speeds(tasks, 4)).tolist() == [1.0] * 4


def test_too_few_tasks_give_no_number():
    assert speeds(_tasks().at(np.arange(0)), 4) == (None,) * 4
    tasks = TaskRows(
        batch=np.array([0, 1]), group=np.array([0, 0]), executor=np.array([0, 1]), seconds=np.ones(2), rows=np.ones(2)
    )
    assert speeds(tasks, 2) == (None, None)


def test_chance_moves_nothing():
    one = Speed(estimate=0.95, low=0.85, high=1.06, tasks=9)
    assert one.cautious == 1.0
    assert Speed(estimate=0.5, low=0.4, high=0.6, tasks=9).cautious == 0.6
    assert Speed(estimate=2.0, low=1.5, high=2.6, tasks=9).cautious == 1.5


def test_the_unknown_one_is_probed_with_the_cheapest_group_that_others_ran():
    tasks = _tasks(0, moves=2.0).at(_tasks(0, moves=2.0).executor != 3)
    found = speeds(tasks, 4)
    assert found[3] is None
    node_of, cost = np.arange(40) % 4, np.ones(40)
    cost[[5, 7]] = 0.1  # group 7 is on the unknown executor itself
    assert probe(tasks, found, node_of, cost) == Probe(group=5, executor=3)
    known = (Speed(estimate=1.0, low=0.95, high=1.05, tasks=9),) * 4
    assert probe(tasks, known, node_of, cost) is None
    assert probe(tasks, (None,) * 4, node_of, cost) is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"seconds": np.array([-1.0])}, "seconds"),
        ({"rows": np.ones(2)}, "rows"),
        ({"executor": np.array([9])}, "executor"),
    ],
)
def test_bad_rows_are_refused_by_name(changes, field):
    good = {name: np.zeros(1, dtype=np.int64) for name in ("batch", "group", "executor")}
    with pytest.raises(ValueError, match=field):
        speeds(TaskRows(**({**good, "seconds": np.array([2 * LEAST_S]), "rows": np.ones(1)} | changes)), 4)


def test_a_bad_memory_is_refused():
    with pytest.raises(ValueError, match="kept_ratio"):
        speeds(_tasks(), 4, kept_ratio=0.0)
