"""The judge's own arithmetic, beside figures that were worked out by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import facts
from streamjob_planners.batch.shape import BatchShape, FreeStage
from streamjob_planners.model import LoadModel


def _flags(count, *on):
    return np.isin(np.arange(count), on)


@pytest.fixture
def uneven(small_model) -> LoadModel:
    """n0 has 30 of its 100 points; n1 has 40 and is twice as large; n2, which goes, has 20."""
    return small_model(
        [0, 0, 1, 2], [10.0, 20.0, 40.0, 20.0], n_nodes=3, capacity=np.array([1.0, 2.0, 4.0]), marked=_flags(3, 2)
    )


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        (1e9, 1e9 + 900.0, True),
        (1e9, 1e9 + 1100.0, False),
        (0.0, 0.9e-6, True),
        (0.0, 1.1e-6, False),
        (2.0, 3.0, False),
    ],
)
def test_a_millionth_of_a_figure_or_of_one_is_rounding(a, b, alike):
    assert facts.same(a, b) is alike
    assert facts.same(-a, -b) is alike


def test_the_mean_is_of_all_load_over_what_stays(uneven):
    assert facts.mean(uneven) == 30.0


def test_each_node_has_its_load_over_its_capacity(uneven):
    assert facts.used(uneven, uneven.node_of).tolist() == [30.0, 20.0, 5.0]
    assert facts.used(uneven, np.array([0, 0, 0, 0])).tolist() == [90.0, 0.0, 0.0]


def test_the_distance_is_of_the_node_that_is_farthest_above_or_below_among_those_that_stay(uneven):
    assert facts.distance(uneven, uneven.node_of) == 10.0  # n1 below; n2, 25 below, does not count
    assert facts.distance(uneven, np.array([0, 0, 1, 0])) == 20.0  # n0 above


def test_key_groups_on_nodes_that_go_are_counted(uneven):
    assert facts.on_marked(uneven, uneven.node_of) == 1
    assert facts.on_marked(uneven, np.array([2, 2, 0, 2])) == 3
    assert facts.on_marked(dataclasses.replace(uneven, marked=_flags(3)), uneven.node_of) == 0


@pytest.fixture
def talking(small_model) -> LoadModel:
    """0 talks to 1, which is beside it, and to 2 and 3; 3 talks back to 0."""
    links = {(0, 1): 10.0, (0, 2): 20.0, (0, 3): 30.0, (3, 0): 40.0}
    return small_model([0, 0, 1, 1], [10.0, 10.0, 10.0, 10.0], links, n_nodes=2)


def test_local_is_what_stays_on_a_node_and_all_is_what_is_known_to_be_sent(talking):
    assert facts.local_traffic(talking, talking.node_of) == 10.0
    assert facts.local_traffic(talking, np.array([0, 1, 0, 0])) == 90.0
    assert facts.all_traffic(talking) == 100.0
    told = dataclasses.replace(talking, traffic_out=np.array([50.0, 7.0, 0.0, 45.0]))
    assert facts.all_traffic(told) == 60.0 + 7.0 + 45.0


def test_without_traffic_nothing_is_sent(uneven):
    assert (facts.local_traffic(uneven, uneven.node_of), facts.all_traffic(uneven)) == (0.0, 0.0)
    # Only where pairs were measured do sums of them mean anything.
    assert facts.all_traffic(dataclasses.replace(uneven, traffic_out=np.ones(4))) == 0.0


def test_every_figure_of_a_placement(talking):
    found = facts.recomputed(talking, np.array([0, 1, 0, 0]))
    assert found == {
        "load_distance": 10.0,
        "load_index": 100.0,
        "mean": 20.0,
        "max_load": 30.0,
        "marked_groups": 0,
        "collocation_factor": 90.0,
        "batch_s": None,
        "level_rms_s": None,
    }


def test_without_traffic_and_without_load_figures_say_so(small_model):
    idle = small_model([0, 1], [0.0, 0.0], {(0, 1): 0.0}, n_nodes=2)
    found = facts.recomputed(idle, idle.node_of)
    assert (found["load_index"], found["collocation_factor"], found["max_load"]) == (100.0, None, 0.0)


def test_little_load_and_little_traffic_are_not_none(small_model):
    little = small_model([0, 1], [0.25, 0.25], {(0, 1): 0.5}, n_nodes=2, traffic_load_ratio=0.25)
    found = facts.recomputed(little, np.zeros(2, dtype=np.int64))
    assert (found["load_index"], found["collocation_factor"]) == (50.0, 100.0)


def test_local_traffic_saves_at_both_ends_and_remote_traffic_costs_as_much(talking):
    saving = dataclasses.replace(talking, traffic_load_ratio=0.05)
    apart = facts.recomputed(saving, np.array([0, 1, 0, 1]))  # 20 B/s become local and 10 remote
    assert apart["load_index"] == pytest.approx(100.0 * (40.0 - 2 * 20 * 0.05 + 2 * 10 * 0.05) / 40.0)
    together = facts.recomputed(saving, np.zeros(4, dtype=np.int64))
    assert together["load_index"] == pytest.approx(100.0 * (40.0 - 2 * 90 * 0.05) / 40.0)


def test_no_key_group_saves_more_than_it_has(talking):
    saving = dataclasses.replace(talking, traffic_load_ratio=0.25)  # 3 would save 17.5 of its 10 points, 0 22.5
    found = facts.recomputed(saving, np.zeros(4, dtype=np.int64))
    assert found["load_index"] == pytest.approx(100.0 * (0.0 + 10.0 + 5.0 + 0.0) / 40.0)


@pytest.fixture
def staged(small_model) -> LoadModel:
    """Two levels on a node with two slots and one with a single, slow one; n2, with nothing, is to go."""
    shape = BatchShape(
        level=np.array([0, 0, 0, 0, 1]),
        task_s=np.array([3.0, 2.0, 2.0, 1.0, 4.0]),
        spread_s=np.zeros(5),
        slots=np.array([2, 1, 1]),
        speed=np.array([1.0, 0.5, 1.0]),
        fixed_s=0.25,
    )
    return small_model([0, 0, 0, 1, 1], [1.0] * 5, n_nodes=3, batch=shape, marked=_flags(3, 2))


def test_tasks_take_the_slot_that_is_idle_longest(staged):
    assert facts.level_ends(staged, staged.node_of, 0) == [4.0, 2.0, 0.0]  # 3 s beside 2 s and 2 s
    assert facts.level_ends(staged, staged.node_of, 1) == [0.0, 8.0, 0.0]


def test_work_is_what_each_slot_would_have_of_it(staged):
    assert facts.level_work(staged, staged.node_of, 0) == [3.5, 2.0, 0.0]
    assert facts.level_work(staged, staged.node_of, 1) == [0.0, 8.0, 0.0]


def test_a_batch_is_its_levels_one_after_another_and_what_is_fixed(staged):
    found = facts.batch_facts(staged, staged.node_of)
    assert found["batch_s"] == 0.25 + 4.0 + 8.0
    assert found["level_rms_s"] == pytest.approx(((3.5**2 + 2.0**2) / 2) ** 0.5 + (8.0**2 / 2) ** 0.5)


@pytest.mark.parametrize(
    ("stages", "seconds"),
    [
        ((FreeStage(work_s=8.0),), 2.0),
        ((FreeStage(work_s=8.0, longest_s=5.0),), 5.0),
        ((FreeStage(work_s=8.0), FreeStage(work_s=4.0)), 3.0),  # side by side they share the four slots
        ((FreeStage(work_s=8.0), FreeStage(work_s=4.0, level=1)), 3.0),
        ((FreeStage(work_s=8.0, longest_s=5.0), FreeStage(work_s=4.0, longest_s=3.0, level=1)), 8.0),
        ((FreeStage(work_s=8.0, longest_s=5.0), FreeStage(work_s=4.0, longest_s=3.0)), 5.0),
    ],
)
def test_stages_without_key_groups_are_spread_over_all_slots(staged, stages, seconds):
    shaped = dataclasses.replace(staged, batch=dataclasses.replace(staged.batch, free_stages=stages))
    found = facts.batch_facts(shaped, shaped.node_of)
    assert found["batch_s"] == 0.25 + 12.0 + seconds


def test_without_predicted_batches_there_is_no_level(uneven):
    assert facts.batch_facts(uneven, uneven.node_of) == {"batch_s": None, "level_rms_s": None}
    assert facts.level_work(uneven, uneven.node_of, 0) == [0.0, 0.0, 0.0]
    assert facts.level_ends(uneven, uneven.node_of, 0) == []
