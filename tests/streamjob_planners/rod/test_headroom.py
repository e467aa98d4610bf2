"""What a placement survives: by hand, beside `resilience`, and against load that is really grown."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import GroupId, LoadModel
from streamjob_planners.rod.headroom import FEWEST_MIXES, headroom
from streamjob_planners.rod.resilience import model_of_series, resilience


def model(load: list[float], node_of: list[int], n_nodes: int = 2, **fields) -> LoadModel:
    n_groups = len(load)
    given = {
        "node_ids": tuple(f"n{i}" for i in range(n_nodes)),
        "capacity": np.ones(n_nodes),
        "marked": np.zeros(n_nodes, dtype=np.bool_),
        "group_ids": tuple(GroupId(operator=0, partition=k) for k in range(n_groups)),
        "node_of": np.array(node_of),
        "load": np.array(load),
        "migration_cost_s": np.zeros(n_groups),
        "state_bytes": np.zeros(n_groups),
        "pinned": np.zeros(n_groups, dtype=np.bool_),
    }
    return LoadModel(**{**given, **fields})


def levels(*level: int, n_nodes: int = 2) -> BatchShape:
    n_groups = len(level)
    return BatchShape(
        level=np.array(level),
        task_s=np.ones(n_groups),
        spread_s=np.zeros(n_groups),
        slots=np.ones(n_nodes, dtype=np.int64),
        speed=np.ones(n_nodes),
    )


def test_alike_until_the_fullest_node_is_full():
    found = headroom(model([40.0, 10.0], [0, 1]))
    assert found.alike_ratio == pytest.approx(2.5)
    assert found.full_node == 0
    assert found.any_ratio is None


def test_levels_one_after_another_take_their_time_together():
    """30 points of each level's slowest node are 60 of the time, though no node is above 30."""
    chained = model([30.0, 30.0], [0, 1], batch=levels(0, 1))
    assert headroom(chained).alike_ratio == pytest.approx(1.0 / 0.6)
    assert headroom(dataclasses.replace(chained, batch=levels(0, 0))).alike_ratio == pytest.approx(1.0 / 0.3)


def test_other_work_and_what_no_load_explains_take_room():
    found = headroom(model([40.0, 40.0], [0, 1]), other_load=20.0, fixed_ratio=0.25)
    assert found.alike_ratio == pytest.approx(0.75 / 0.5)


def test_the_worst_mix_is_the_one_that_grows_on_the_fullest_node():
    series = np.array([[20.0, 20.0]] * FEWEST_MIXES + [[40.0, 0.0]])
    found = headroom(model([20.0, 20.0], [0, 1], load_series=series))
    assert found.alike_ratio == pytest.approx(5.0)
    assert found.any_ratio == pytest.approx(1.0 + 0.8 / 0.4)
    assert found.mixes == FEWEST_MIXES + 1


def test_an_overloaded_placement_is_below_1_in_any_mix():
    series = np.tile([120.0, 20.0], (FEWEST_MIXES, 1))
    found = headroom(model([120.0, 20.0], [0, 1], load_series=series))
    assert found.alike_ratio == found.any_ratio == pytest.approx(1.0 / 1.2)


def test_nothing_to_grow_and_no_time_at_all():
    assert headroom(model([0.0, 0.0], [0, 1])) is None
    assert headroom(model([1.0, 1.0], [0, 1]), fixed_ratio=1.0).alike_ratio == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_with_one_level_it_is_the_resilience_of_the_dissertation(seed):
    rng = np.random.default_rng(seed)
    series, node_of = rng.uniform(0.0, 4.0, (8, 20)), rng.integers(0, 4, 20)
    series *= series.sum(axis=1).mean() / series.sum(axis=1, keepdims=True)
    given = model(series.mean(axis=0).tolist(), node_of.tolist(), 4, load_series=series)
    linear, rates = model_of_series(series, np.full(4, 100.0))
    known, found = resilience(linear, node_of, rates), headroom(given)
    assert found.alike_ratio == pytest.approx(known.same_mix_ratio)
    assert found.any_ratio == pytest.approx(known.any_mix_ratio)
    assert found.full_node == known.full_node


@pytest.mark.parametrize("seed", range(5))
def test_load_grown_to_just_below_fits_and_to_just_above_does_not(seed):
    rng = np.random.default_rng(seed)
    series, node_of = rng.uniform(0.0, 2.0, (9, 24)), rng.integers(0, 3, 24)
    level = rng.integers(0, 2, 24)
    given = model(series.mean(axis=0).tolist(), node_of.tolist(), 3, load_series=series)
    given = dataclasses.replace(given, batch=levels(*level, n_nodes=3))
    found, total = headroom(given), given.load.sum()

    def time_taken(load: np.ndarray) -> float:
        return sum(max(load[(node_of == n) & (level == k)].sum() for n in range(3)) for k in range(2)) / 100.0

    def grown(growth: float) -> float:
        return max(time_taken(given.load + growth * row / row.sum() * total) for row in series)

    assert grown(found.any_ratio - 1.001) < 1.0 < grown(found.any_ratio - 0.999)
    assert time_taken(given.load * found.alike_ratio) == pytest.approx(1.0)
