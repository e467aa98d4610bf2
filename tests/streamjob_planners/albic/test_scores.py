"""Step 1: which pairs count, against a hand-made case of the paper's formula."""

import numpy as np
import pytest

from streamjob_planners.albic.step_1_scores import beneficial_pairs, joining


def _pairs(model, factor):
    pairs = beneficial_pairs(model, factor)
    return list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))


@pytest.fixture
def model(small_model):
    # Operator 0: groups 0, 1. Operator 1: groups 2, 3, 4. avg(0) = 90 / 3 = 30, avg(1) = 30 / 3 = 10.
    links = {(0, 2): 60.0, (0, 3): 30.0, (1, 2): 10.0, (1, 3): 10.0, (1, 4): 10.0}
    return small_model([0, 0, 0, 1, 1], [1.0] * 5, links, n_nodes=2, operators=[0, 0, 1, 1, 1])


def test_a_pair_must_exceed_its_senders_mean_over_all_downstream_groups(model):
    assert _pairs(model, 1.5) == [(0, 2)]


def test_a_threshold_is_exceeded_not_met(model):
    assert _pairs(model, 1.0) == [(0, 2)]
    assert _pairs(model, 0.99) == [(0, 2), (0, 3), (1, 2), (1, 3), (1, 4)]


def test_the_mean_counts_groups_that_receive_nothing(small_model):
    # Group 0 sends evenly to two of four downstream groups: each gets twice the mean.
    links = {(0, 1): 5.0, (0, 2): 5.0}
    model = small_model([0] * 5, [1.0] * 5, links, n_nodes=1, operators=[0, 1, 1, 1, 1])
    assert _pairs(model, 1.5) == [(0, 1), (0, 2)]
    assert _pairs(model, 2.0) == []


def test_several_downstream_operators_share_one_mean(small_model):
    # avg = 90 / (1 + 2): the single group of operator 1 gets 60, twice the mean.
    links = {(0, 1): 60.0, (0, 2): 15.0, (0, 3): 15.0}
    model = small_model([0] * 4, [1.0] * 4, links, n_nodes=1, operators=[0, 1, 2, 2])
    assert _pairs(model, 1.9) == [(0, 1)]


def test_no_traffic_no_pairs(small_model):
    assert len(beneficial_pairs(small_model([0, 0], [1.0, 1.0], None, n_nodes=1), 1.5)) == 0
    assert len(beneficial_pairs(small_model([0, 0], [1.0, 1.0], {}, n_nodes=1), 1.5)) == 0


def test_joining_names_the_movers_that_find_a_partner(model):
    pairs = beneficial_pairs(model, 0.9)
    # Group 3 joins group 0 on node 0; group 4 stays away.
    assert joining(model, np.array([0, 0, 0, 0, 1]), pairs).tolist() == [False, False, False, True, False]


def _shuffle(small_model, reported: int, **changes):
    """A uniform shuffle of 20 by 20 key groups, of which so many pairs were reported, as those of equal weight fall."""
    rng, width = np.random.default_rng(4), 20
    pairs = [(i, width + j) for i in range(width) for j in range(width)]
    chosen = rng.permutation(len(pairs))[:reported]
    links = {pairs[at]: 100.0 for at in chosen.tolist()}
    return small_model([0] * 40, [1.0] * 40, links, n_nodes=2, operators=[0] * width + [1] * width, **changes)


def test_a_uniform_shuffle_of_which_the_heaviest_pairs_are_known_has_no_pair_worth_it(small_model):
    sent = np.repeat([2000.0, 0.0], 20)
    assert len(beneficial_pairs(_shuffle(small_model, 80), 1.5)) > 0
    assert len(beneficial_pairs(_shuffle(small_model, 80, traffic_out=sent), 1.5)) == 0


def test_the_two_thousand_heaviest_pairs_of_a_hundred_by_a_hundred_are_no_heavier_than_the_others(small_model):
    width, rng = 100, np.random.default_rng(6)
    sent = rng.normal(100.0, 10.0, (width, width))
    heaviest = np.argsort(-sent, axis=None)[:2000]
    links = {(at // width, width + at % width): float(sent.flat[at]) for at in heaviest.tolist()}
    size = {"n_nodes": 10, "operators": [0] * width + [1] * width}
    place = (np.arange(2 * width) % 10).tolist()
    told = np.append(sent.sum(axis=1), np.zeros(width))
    whole = small_model(place, [1.0] * 2 * width, links, traffic_out=told, **size)
    assert len(beneficial_pairs(whole, 1.5)) == 0
    assert len(beneficial_pairs(small_model(place, [1.0] * 2 * width, links, **size), 1.5)) == 2000, "without totals"


def test_the_partners_that_a_key_group_may_have_can_be_told(small_model):
    model = _shuffle(small_model, 400, traffic_partners=np.full(40, 80))
    assert len(beneficial_pairs(model, 1.5)) == 400  # a fourth of what each could send to, so four times the mean


def test_a_total_below_its_pairs_does_not_make_them_heavier(small_model):
    model = _shuffle(small_model, 400, traffic_out=np.zeros(40))
    assert len(beneficial_pairs(model, 1.5)) == 0
