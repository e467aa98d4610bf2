"""Step 2: sets of collocated key groups, whole or split."""

import numpy as np
import pytest

from streamjob_planners.albic.step_1_scores import beneficial_pairs
from streamjob_planners.albic.step_2_maintain import SetLimits, components, split_sets

WHOLE = SetLimits(max_load=float("inf"), max_cost=float("inf"))


@pytest.fixture
def chain(small_model):
    links = {(i, i + 1): 10.0 for i in range(7)}
    return small_model([0] * 8, [4.0] * 8, links, n_nodes=2, operators=list(range(8)))


def _units(model, limits):
    pairs = beneficial_pairs(model, 0.5)
    return split_sets(model, components(pairs, model.n_groups), pairs, np.ones(model.n_groups), limits)


def test_linked_pairs_are_one_set_and_strangers_are_alone(small_model):
    model = small_model([0] * 5, [1.0] * 5, {(0, 1): 5.0, (1, 2): 5.0}, n_nodes=1, operators=[0, 1, 2, 3, 4])
    labels = components(beneficial_pairs(model, 0.5), 5)
    assert labels[0] == labels[1] == labels[2]
    assert len({labels[0], labels[3], labels[4]}) == 3


def test_a_set_within_its_limits_stays_whole(chain):
    assert len(set(_units(chain, WHOLE).tolist())) == 1


@pytest.mark.parametrize("max_load", [4.0, 8.0, 15.9, 16.0])
def test_parts_keep_the_largest_load_and_are_connected_runs(chain, max_load):
    units = _units(chain, SetLimits(max_load=max_load, max_cost=float("inf")))
    loads = np.bincount(units, weights=chain.load)
    assert loads.max() <= max_load
    assert len(loads) <= 2 * np.ceil(32.0 / max_load)


def test_parts_keep_the_budget(chain):
    units = _units(chain, SetLimits(max_load=float("inf"), max_cost=3.0))
    assert np.bincount(units).max() <= 3


def test_a_largest_load_of_zero_makes_every_key_group_a_unit(chain):
    assert len(set(_units(chain, SetLimits(max_load=0.0, max_cost=float("inf"))).tolist())) == 8


def test_a_key_group_over_the_limit_is_a_unit_of_its_own(small_model):
    model = small_model([0] * 3, [50.0, 1.0, 1.0], {(0, 1): 9.0, (1, 2): 9.0}, n_nodes=2, operators=[0, 1, 2])
    units = _units(model, SetLimits(max_load=10.0, max_cost=float("inf")))
    assert (units == units[0]).sum() == 1
