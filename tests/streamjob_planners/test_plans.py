"""Moves come in the order in which they help, with their reasons."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import plans, registry
from streamjob_planners.model import MoveReason, Resource


def _reasons(model, node_of, **more):
    plan = plans.make_plan(model, np.array(node_of), planner="test", elapsed_s=0.0, **more)
    return [(move.group, move.reason) for move in plan.moves]


def test_the_move_that_relieves_most_comes_first(small_model):
    model = small_model([0, 0, 0, 1], [30.0, 5.0, 15.0, 10.0], n_nodes=3)
    assert _reasons(model, [2, 1, 0, 1])[0] == (0, MoveReason.RELIEVE)


def test_overload_is_relieved_before_a_marked_node_is_emptied(small_model):
    model = small_model([0, 0, 2, 1], [40.0, 40.0, 5.0, 5.0], n_nodes=3, marked=np.array([False, False, True]))
    assert _reasons(model, [0, 1, 1, 1]) == [(1, MoveReason.RELIEVE), (2, MoveReason.DRAIN)]


def test_what_makes_room_goes_before_what_needs_it(small_model):
    """The heavy group would come first, to a node that is full until its own one has left."""
    memory = Resource(name="memory", use=np.array([4.0, 4.0, 1.0]), limit=np.array([5.0, 5.0, 5.0]))
    model = small_model([0, 1, 0], [10.0, 2.0, 10.0], n_nodes=3, resources=(memory,))
    assert [group for group, _ in _reasons(model, [1, 2, 0])] == [1, 0]
    assert [group for group, _ in _reasons(dataclasses.replace(model, resources=()), [1, 2, 0])] == [0, 1]


def test_without_a_key_group_nothing_needs_room(small_model):
    memory = Resource(name="memory", use=np.zeros(0), limit=np.ones(2))
    assert _reasons(small_model([], [], n_nodes=2, resources=(memory,)), np.zeros(0, dtype=np.int64)) == []


def test_moves_that_wait_for_each_other_begin_with_the_one_that_needs_least(small_model):
    memory = Resource(name="memory", use=np.array([4.0, 3.0, 0.5]), limit=np.full(3, 4.0))
    model = small_model([0, 1, 2], [9.0, 1.0, 5.0], n_nodes=3, resources=(memory,))
    assert [group for group, _ in _reasons(model, [1, 0, 2])] == [1, 0]


@pytest.mark.parametrize("seed", range(20))
def test_nodes_hold_no_more_on_the_way_than_in_the_end_where_another_one_has_room(small_model, seed):
    rng = np.random.default_rng(seed)
    home, use = rng.integers(0, 4, 24), rng.lognormal(0.0, 1.0, 24)
    goal = np.where(rng.random(24) < 0.5, rng.integers(0, 5, 24), home)
    most = np.maximum(np.bincount(home, use, 5), np.bincount(goal, use, 5))
    memory = Resource(name="memory", use=use, limit=most + use.max() * (np.arange(5) == 4))
    model = small_model(home.tolist(), rng.lognormal(0.0, 1.0, 24).tolist(), n_nodes=5, resources=(memory,))
    plan, held, over = plans.make_plan(model, goal, planner="test", elapsed_s=0.0), np.bincount(home, use, 5), 0
    assert sorted(move.group for move in plan.moves) == np.flatnonzero(goal != home).tolist()
    for at, move in enumerate(plan.moves):
        left = [one for one in plan.moves[at:] if held[one.target] + use[one.group] <= memory.limit[one.target] + 1e-6]
        held[move.source] -= use[move.group]
        held[move.target] += use[move.group]
        over += bool(left) and held[move.target] > memory.limit[move.target] + 1e-6
    assert over == 0


def test_reasons_of_filling_swapping_and_collocating(small_model):
    model = small_model([0, 0, 1], [10.0, 10.0, 4.0], n_nodes=3)
    assert _reasons(model, [0, 2, 1])[0][1] is MoveReason.RELIEVE
    assert _reasons(model, [0, 0, 2])[0][1] is MoveReason.FILL
    joining = np.array([False, True, False])
    assert _reasons(model, [0, 1, 1], collocating=joining) == [(1, MoveReason.COLLOCATE)]
    level = small_model([0, 1], [10.0, 10.0], n_nodes=2)
    assert _reasons(level, [1, 0])[0][1] is MoveReason.SWAP


def test_the_skew_floor_is_told_and_the_placement_cannot_be_written_to(small_model):
    model = small_model([0, 1], [90.0, 1.0], n_nodes=2)
    plan = plans.hold_plan(model, planner="hold")
    assert any("alone needs 90.0 points" in note for note in plan.notes)
    assert not plan.node_of.flags.writeable
    assert model.node_of.flags.writeable


def test_an_unknown_planner_is_answered_with_the_names_that_exist():
    with pytest.raises(ValueError, match="planner: there is no 'best'") as told:
        registry.get("best")
    assert all(name in str(told.value) for name in registry.names())
