"""Figures of placements worked out by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import facts, measures


def test_mean_counts_all_load_and_only_the_capacity_that_stays(small_model):
    model = small_model([0, 1, 2], [10.0, 20.0, 30.0], n_nodes=3, marked=np.array([False, False, True]))
    assert measures.mean_utilisation(model) == 30.0
    assert measures.load_distance(model, model.node_of) == 20.0
    assert measures.marked_groups(model, model.node_of) == 1


def test_capacity_weights_make_unequal_shares_equal(small_model):
    model = small_model([0, 1], [10.0, 30.0], n_nodes=2, capacity=np.array([1.0, 3.0]))
    assert measures.load_distance(model, model.node_of) == 0.0
    assert measures.utilisation(model, model.node_of).tolist() == [10.0, 10.0]


def test_collocation_factor_is_the_local_part_of_the_traffic(small_model):
    model = small_model([0, 0, 1], [1.0, 1.0, 1.0], {(0, 1): 30.0, (0, 2): 10.0}, n_nodes=2)
    assert measures.collocation_factor(model, model.node_of) == 75.0
    assert measures.collocation_factor(dataclasses.replace(model, traffic=None), model.node_of) is None


def test_collocation_factor_counts_what_is_sent_in_pairs_that_nobody_reported(small_model):
    links = {(0, 1): 30.0, (0, 2): 10.0, (1, 2): 5.0}
    model = small_model([0, 0, 1], [1.0, 1.0, 1.0], links, n_nodes=2, traffic_out=np.array([55.0, 0.0, 0.0]))
    assert measures.sent_bps(model).tolist() == [55.0, 5.0, 0.0]  # a total below its pairs is the pairs
    assert measures.collocation_factor(model, model.node_of) == 50.0
    assert facts.recomputed(model, model.node_of)["collocation_factor"] == 50.0


def test_collocation_saves_load_at_both_ends(small_model):
    model = small_model([0, 1], [10.0, 10.0], {(0, 1): 100.0}, n_nodes=2, traffic_load_ratio=0.02)
    together = np.array([0, 0])
    assert measures.planned_load(model, together).tolist() == [8.0, 8.0]
    assert measures.load_index(model, together) == pytest.approx(80.0)
    assert measures.load_index(model, model.node_of) == 100.0
    apart = dataclasses.replace(model, node_of=together)
    assert measures.planned_load(apart, np.array([0, 1])).tolist() == [12.0, 12.0]


def test_skew_floor_names_the_group_that_decides(small_model):
    model = small_model([0, 0, 1], [70.0, 10.0, 10.0], n_nodes=3)
    floor = measures.skew_floor(model)
    assert floor is not None
    assert (floor.group, floor.load_distance) == (0, 40.0)
    assert "70.0 points" in floor.sentence
    assert measures.skew_floor(small_model([0, 0, 1], [10.0, 10.0, 10.0], n_nodes=2)) is None


def test_a_heavy_group_on_a_marked_node_is_no_floor_of_this_round(small_model):
    model = small_model([2, 0, 1], [90.0, 10.0, 10.0], n_nodes=3, marked=np.array([False, False, True]))
    assert measures.skew_floor(model) is None
