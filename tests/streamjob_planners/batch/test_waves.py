"""Waves against predictions of whole batches, and what side by side means."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners.batch.predict import predict
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.batch.waves import once_s, waves
from streamjob_planners.model import GroupId, LoadModel, Move, Resource
from streamjob_planners.ordering import ordered_moves


def model_of(
    task_s: list[float], node_of: list[int], cost_s: list[float], *, n_nodes: int = 2, slots: int = 1
) -> LoadModel:
    n = len(task_s)
    return LoadModel(
        node_ids=tuple(f"n{i}" for i in range(n_nodes)),
        capacity=np.ones(n_nodes),
        marked=np.zeros(n_nodes, dtype=np.bool_),
        group_ids=tuple(GroupId(operator=0, partition=k) for k in range(n)),
        node_of=np.array(node_of),
        load=np.array(task_s),
        migration_cost_s=np.array(cost_s),
        state_bytes=np.ones(n),
        pinned=np.zeros(n, dtype=np.bool_),
        batch=BatchShape(
            level=np.zeros(n, dtype=np.int64),
            task_s=np.array(task_s),
            spread_s=np.zeros(n),
            slots=np.full(n_nodes, slots),
            speed=np.ones(n_nodes),
        ),
    )


def drawn(seed: int, n_groups: int, n_nodes: int, n_levels: int) -> tuple[LoadModel, list[Move]]:
    """A query of several levels and a plan that moves half of its key groups anywhere."""
    rng = np.random.default_rng(seed)
    model = model_of(
        rng.lognormal(0.0, 0.7, n_groups).tolist(),
        rng.integers(0, n_nodes, n_groups).tolist(),
        rng.uniform(0.0, 0.5, n_groups).tolist(),
        n_nodes=n_nodes,
    )
    shape = dataclasses.replace(
        model.batch,
        level=rng.integers(0, n_levels, n_groups),
        slots=rng.integers(1, 5, n_nodes),
        speed=rng.choice([0.5, 1.0], n_nodes),
    )
    target = np.where(rng.random(n_groups) < 0.5, rng.integers(0, n_nodes, n_groups), model.node_of)
    return dataclasses.replace(model, batch=shape), list(ordered_moves(model, target))


def test_no_move_takes_the_room_that_an_earlier_one_waits_for() -> None:
    """Both want to go to a node that takes one of them at a time; the lighter would join at no cost."""
    model = model_of([5.0, 5.0, 1.0, 9.0], [0, 0, 0, 1], [9.0, 1.0, 0.5, 0.1], n_nodes=3)
    to = np.array([1, 2, 2, 1])
    for limit, joined in ((10.0, [0, 2]), (4.5, [0])):
        memory = Resource(name="memory", use=np.array([1.0, 4.0, 1.0, 1.0]), limit=np.full(3, limit))
        held = dataclasses.replace(model, resources=(memory,))
        plan = [move for group in (0, 1, 2) for move in ordered_moves(held, to) if move.group == group]
        assert [move.group for move in waves(held, plan, 0.1)[0].moves] == joined


def alone_s(model: LoadModel, node_of: np.ndarray, move: Move) -> float:
    """What a wave of this move alone would cost."""
    placed, extra_s = node_of.copy(), np.zeros(model.n_groups)
    placed[move.group], extra_s[move.group] = move.target, move.cost_s
    return predict(model.batch, placed, extra_s).batch_s - predict(model.batch, placed).batch_s


@pytest.mark.parametrize("seed", range(20))
def test_each_wave_costs_what_predictions_of_whole_batches_say(seed: int) -> None:
    model, moves = drawn(seed, 30, 4, 1 + seed % 3)
    allowance_s = (0.0, 0.2, 1.0)[seed % 3]
    found = waves(model, moves, allowance_s)
    assert sorted(move.group for wave in found for move in wave.moves) == sorted(move.group for move in moves)
    node_of = model.node_of.copy()
    for wave in found:
        before, extra_s = node_of.copy(), np.zeros(model.n_groups)
        for move in wave.moves:
            node_of[move.group] = move.target
            extra_s[move.group] = model.migration_cost_s[move.group]
        still_s = predict(model.batch, node_of).batch_s
        cost_s = predict(model.batch, node_of, extra_s).batch_s - still_s
        assert wave.extra_s == pytest.approx(max(0.0, cost_s), abs=1e-6)
        assert wave.batch_s == pytest.approx(still_s)
        assert wave.extra_s <= max(allowance_s, alone_s(model, before, wave.moves[0])) + 1e-6
    assert once_s(found) == pytest.approx(sum(wave.extra_s for wave in found))


def test_moves_that_load_side_by_side_cost_once() -> None:
    """Two nodes with the same work each get a key group that loads for a second."""
    model = model_of([1.0, 1.0, 1.0, 1.0], [0, 0, 0, 0], [1.0] * 4, n_nodes=3)
    moves = list(ordered_moves(model, np.array([0, 0, 1, 2])))
    found = waves(model, moves, 1.0)
    assert len(found) == 1
    assert found[0].extra_s == pytest.approx(0.0)  # the first node works for two seconds anyway
    dear = dataclasses.replace(model, migration_cost_s=np.full(4, 2.5))
    assert [wave.extra_s for wave in waves(dear, moves, 1.5)] == pytest.approx([1.5])


def test_every_wave_has_a_move_however_dear() -> None:
    model = model_of([1.0, 1.0, 1.0], [0, 0, 0], [9.0] * 3, n_nodes=2)
    found = waves(model, list(ordered_moves(model, np.array([0, 1, 1]))), 0.1)
    assert [len(wave.moves) for wave in found] == [1, 1]
    assert once_s(found) > 10.0


def test_a_later_move_joins_where_it_costs_nothing_more() -> None:
    """Both first moves load on one node, one after the other; the third loads side by side with the first."""
    model = model_of([1.0] * 5, [0, 0, 0, 0, 0], [5.0] * 5, n_nodes=3)
    moves = {move.group: move for move in ordered_moves(model, np.array([0, 0, 1, 1, 2]))}
    found = waves(model, [moves[2], moves[3], moves[4]], 4.0)
    assert [[move.group for move in wave.moves] for wave in found] == [[2, 4], [3]]


def test_moves_that_load_nothing_are_one_wave() -> None:
    model, moves = drawn(3, 40, 5, 2)
    free = dataclasses.replace(model, migration_cost_s=np.zeros(40))
    assert [wave.extra_s for wave in waves(free, moves, 0.0)] == [0.0]


def test_no_moves_no_waves_and_bad_values_are_named() -> None:
    model, moves = drawn(1, 10, 2, 1)
    assert waves(model, [], 1.0) == ()
    with pytest.raises(ValueError, match="allowance_s"):
        waves(model, moves, -1.0)
    with pytest.raises(ValueError, match="batch"):
        waves(dataclasses.replace(model, batch=None), moves, 1.0)
