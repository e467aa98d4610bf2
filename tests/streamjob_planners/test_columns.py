"""Arrays that read as key groups and as moves."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from streamjob_planners import columns, plans
from streamjob_planners.columns import GroupIds
from streamjob_planners.model import GroupId, Move, MoveReason

IDS = GroupIds(operator=np.array([0, 0, 7]), partition=np.array([0, 1, 0]))
NAMES = (
    GroupId(operator=0, partition=0),
    GroupId(operator=0, partition=1),
    GroupId(operator=7, partition=0),
)


@pytest.fixture
def moves(small_model):
    """Two groups leave the full node, the one that helps more first, and one joins those that it talks to."""
    model = small_model([0, 0, 0, 1, 2], [30.0, 20.0, 10.0, 5.0, 1.0], n_nodes=3)
    joins = np.array([False, False, False, True, False])
    return plans.make_plan(model, np.array([1, 2, 0, 2, 2]), planner="test", elapsed_s=0.0, collocating=joins).moves


def test_key_groups_read_as_key_groups():
    assert tuple(IDS) == NAMES
    assert [IDS[at] for at in (0, 1, -1)] == list(NAMES)
    assert IDS[1:] == NAMES[1:]
    assert NAMES[2] in IDS
    assert {group: at for at, group in enumerate(IDS)} == {group: at for at, group in enumerate(NAMES)}
    with pytest.raises(IndexError):
        IDS[3]


@pytest.mark.parametrize("ids", [IDS, NAMES])
def test_operators_of_either_kind(ids):
    assert columns.operators(ids).tolist() == [0, 0, 7]


def test_moves_read_as_moves(moves):
    assert [move.group for move in moves] == [1, 0, 3]
    assert moves[0] == Move(
        group=1, source=0, target=2, reason=MoveReason.RELIEVE, cost_s=1.0, state_bytes=100.0, load=20.0
    )
    assert moves[-1].reason is MoveReason.COLLOCATE
    assert moves[1:] == tuple(moves)[1:]
    assert sum(move.cost_s for move in moves) == len(moves)
    with pytest.raises(IndexError):
        moves[3]


def test_equal_means_the_same_moves_in_the_same_order(moves):
    assert moves == tuple(moves)
    assert tuple(moves) == moves
    assert moves != moves[:2]
    assert moves != tuple(reversed(moves))
    assert moves[:0] == ()


def test_moves_travel_to_other_processes(moves):
    assert pickle.loads(pickle.dumps(moves)) == moves
    assert pickle.loads(pickle.dumps(IDS)) == IDS
