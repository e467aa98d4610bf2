"""What the scaling rule asks: more nodes, marked nodes, which nodes to mark."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners import measures
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import Resource
from streamjob_planners.what_if import choose_marks, with_extra_nodes, with_marks


def test_extra_nodes_are_empty_open_and_share_the_load(small_model):
    memory = Resource(name="memory", use=np.ones(2), limit=np.array([5.0, 7.0]))
    model = small_model([0, 1], [30.0, 30.0], n_nodes=2, resources=(memory,))
    wider = with_extra_nodes(model, 2, capacity=2.0)
    assert wider.node_ids == ("n0", "n1", "extra-1", "extra-2")
    assert measures.mean_utilisation(wider) == 10.0
    assert wider.resources[0].limit.tolist() == [5.0, 7.0, 7.0, 7.0]
    assert model.n_nodes == 2


@pytest.mark.parametrize("speed", [(1.0, 1.0), (1.0, 0.3), (2.0, 1.0)])
def test_executors_that_are_slow_or_fast_today_say_nothing_of_the_slots_of_new_ones(small_model, speed):
    slots, speeds = np.array([4, 8]), np.array(speed)
    batch = BatchShape(
        level=np.zeros(2, dtype=np.int64), task_s=np.ones(2), spread_s=np.zeros(2), slots=slots, speed=speeds
    )
    wider = with_extra_nodes(small_model([0, 1], [1.0, 1.0], n_nodes=2, capacity=slots / 4 * speeds, batch=batch), 1)
    assert wider.batch.slots.tolist() == [4, 8, 4]
    assert wider.batch.speed.tolist() == [*speed, 1.0]


def test_a_node_that_is_to_go_says_nothing_of_the_memory_of_new_ones(small_model):
    """One that is gone already may hold all, and its replacement comes the next moment."""
    memory = Resource(name="memory", use=np.ones(3), limit=np.array([2.0, 1.5, 3.0]))
    gone = np.array([False, False, True])
    model = small_model([0, 1, 2], [30.0, 30.0, 30.0], n_nodes=3, resources=(memory,), marked=gone)
    assert with_extra_nodes(model, 1).resources[0].limit.tolist() == [2.0, 1.5, 3.0, 2.0]


def test_names_of_extra_nodes_do_not_clash(small_model):
    twice = with_extra_nodes(with_extra_nodes(small_model([0], [1.0], n_nodes=1), 1), 2)
    assert twice.node_ids == ("n0", "extra-1", "extra-2", "extra-3")
    with pytest.raises(ValueError, match="n: -1"):
        with_extra_nodes(twice, -1)


def test_marks_are_added_and_the_model_is_left_alone(small_model):
    model = small_model([0, 1], [1.0, 1.0], n_nodes=3)
    assert with_marks(model, [2]).marked.tolist() == [False, False, True]
    assert not model.marked.any()
    with pytest.raises(ValueError, match="unmarked"):
        with_marks(model, [0, 1, 2])


def test_the_cheapest_node_to_empty_is_marked_and_never_a_pinned_one_first(small_model):
    size = np.array([100.0, 1.0, 50.0])
    model = small_model([0, 1, 2], [10.0, 10.0, 10.0], n_nodes=3, state_bytes=size)
    assert choose_marks(model, 1) == (1,)
    assert choose_marks(model, 2) == (1, 2)
    pinned = small_model([0, 1, 2], [9.0, 1.0, 9.0], n_nodes=3, pinned=np.array([False, True, False]))
    assert 1 not in choose_marks(pinned, 2)
    with pytest.raises(ValueError, match="0 to 2"):
        choose_marks(model, 3)


def test_empty_nodes_go_first(small_model):
    assert choose_marks(small_model([0, 1, 1], [1.0, 1.0, 1.0], n_nodes=3), 1) == (2,)
