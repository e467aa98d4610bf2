"""Moves come in the order in which they help, with their reasons."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners import plans, registry
from streamjob_planners.model import MoveReason


def _reasons(model, node_of, **more):
    plan = plans.make_plan(model, np.array(node_of), planner="test", elapsed_s=0.0, **more)
    return [(move.group, move.reason) for move in plan.moves]


def test_the_move_that_relieves_most_comes_first(small_model):
    model = small_model([0, 0, 0, 1], [30.0, 5.0, 15.0, 10.0], n_nodes=3)
    assert _reasons(model, [2, 1, 0, 1])[0] == (0, MoveReason.RELIEVE)


def test_overload_is_relieved_before_a_marked_node_is_emptied(small_model):
    model = small_model([0, 0, 2, 1], [40.0, 40.0, 5.0, 5.0], n_nodes=3, marked=np.array([False, False, True]))
    assert _reasons(model, [0, 1, 1, 1]) == [(1, MoveReason.RELIEVE), (2, MoveReason.DRAIN)]


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
