"""Targets and the walk towards them."""

from itertools import permutations

import numpy as np
import pytest

from streamjob_planners import measures
from streamjob_planners.albic.improved.candidates import relabel
from streamjob_planners.albic.improved.settle import settle, start_settling
from streamjob_planners.albic.improved.target import nearest_target, pieces_of
from streamjob_planners.albic.step_1_scores import beneficial_pairs
from streamjob_planners.albic.step_2_maintain import components
from streamjob_planners.collocation.graph import contract, local_traffic, undirected
from streamjob_planners.collocation.walk import start_walk, walk_towards
from streamjob_planners.model import Resource
from streamjob_planners.units import Prices


def _never():
    return False


def _walk(model, target, budget, bands=(10.0,)):
    walk = start_walk(
        model,
        undirected(model.traffic),
        np.arange(model.n_groups),
        target,
        Prices(cost=np.ones(model.n_groups), limit=budget),
    )
    return walk_towards(walk, bands, _never)


def test_a_target_keeps_chains_whole_and_moves_the_least(one_to_one):
    model = one_to_one(4, 5, 5, seed=3)
    pairs = beneficial_pairs(model, 1.5)
    target = nearest_target(model, pieces_of(model, components(pairs, 20), np.ones(20)), 5.0)
    assert measures.collocation_factor(model, target) == 100.0
    # The greatest overlap of four chains with four nodes, by trying all 24 ways.
    chains = components(pairs, 20)
    table = np.zeros((4, 4))
    np.add.at(table, (chains, model.node_of), 1)
    most = max(sum(table[i, p[i]] for i in range(4)) for p in permutations(range(4)))
    assert (target == model.node_of).sum() == most


def test_pieces_on_marked_nodes_go_elsewhere(one_to_one):
    model = one_to_one(4, 5, 5, seed=3, marked=np.array([True, False, False, False]))
    pieces = pieces_of(model, components(beneficial_pairs(model, 1.5), 20), np.ones(20))
    assert 0 not in nearest_target(model, pieces, 5.0)


@pytest.mark.parametrize("budget", [0.0, 1.0, 3.0, 100.0])
def test_a_walk_keeps_its_budget_and_the_load_distance(one_to_one, budget):
    model = one_to_one(4, 20, 5, seed=1)
    pairs = beneficial_pairs(model, 1.5)
    target = nearest_target(model, pieces_of(model, components(pairs, 80), np.ones(80)), 2.5)
    owners = _walk(model, target, budget, (2.5, 10.0))
    assert (owners != model.node_of).sum() <= budget
    assert measures.load_distance(model, owners) <= 10.0
    assert set(np.flatnonzero(owners != model.node_of)) <= set(np.flatnonzero(target != model.node_of))


def test_the_heaviest_link_is_walked_first(small_model):
    links = {(0, 2): 1.0, (1, 3): 9.0}
    model = small_model([0, 0, 1, 1], [1.0] * 4, links, n_nodes=2, operators=[0, 1, 2, 3])
    assert _walk(model, np.array([1, 1, 1, 1]), 1.0).tolist() == [0, 1, 1, 1]


def test_marked_nodes_are_left_first(small_model):
    marked = np.array([False, False, True])
    model = small_model([0, 1, 2], [1.0] * 3, {(0, 1): 9.0}, n_nodes=3, operators=[0, 1, 2], marked=marked)
    assert _walk(model, np.array([1, 1, 0]), 1.0).tolist() == [0, 1, 0]


def test_a_full_resource_stops_the_walk(small_model):
    memory = Resource(name="memory", use=np.ones(2), limit=np.array([1.0, 1.0]))
    model = small_model([0, 1], [1.0, 1.0], {(0, 1): 9.0}, n_nodes=2, operators=[0, 1], resources=(memory,))
    assert _walk(model, np.array([1, 1]), 5.0).tolist() == [0, 1]


def test_saved_load_makes_room_during_the_walk(small_model):
    # Two points per key group, of which a half is the price of remote traffic.
    links = {(0, 2): 100.0, (1, 3): 100.0}
    model = small_model([0, 0, 1, 1], [2.0] * 4, links, n_nodes=2, operators=[0, 1, 2, 3], traffic_load_ratio=0.01)
    start = Prices(cost=np.ones(4), limit=5.0)
    walk = start_walk(model, undirected(model.traffic), np.arange(4), np.array([1, 0, 1, 0]), start)
    owners = walk_towards(walk, (10.0,), _never)
    assert owners.tolist() == [1, 0, 1, 0]
    assert walk.ledger.loads.tolist() == pytest.approx([2.0, 2.0])
    assert walk.ledger.load.tolist() == pytest.approx(measures.planned_load(model, owners).tolist())


def test_labels_and_swaps_bring_a_partition_home(one_to_one):
    model = one_to_one(4, 20, 2, seed=5)
    pieces = pieces_of(model, components(beneficial_pairs(model, 1.5), 80), np.ones(80))
    graph = contract(undirected(model.traffic), pieces.of_group, pieces.load.size)
    parts = np.arange(pieces.load.size) % 4
    cut = relabel(parts, pieces.overlap, np.arange(4))
    limits = np.stack([np.full(4, 40.0), np.full(4, 60.0)])
    state = start_settling(graph, cut, pieces.load, pieces.overlap.toarray(), limits)
    settled = settle(state, 6, _never)
    full = undirected(model.traffic)
    assert local_traffic(full, settled[pieces.of_group]) == local_traffic(full, cut[pieces.of_group])
    assert (settled[pieces.of_group] == model.node_of).sum() > (cut[pieces.of_group] == model.node_of).sum()
    assert measures.load_distance(model, settled[pieces.of_group]) <= 10.0
