"""ALBIC's rounds, as published and improved, judged by `verify` and by figures worked out here."""

import dataclasses
import time

import numpy as np
import pytest

from streamjob_planners import measures, registry
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.albic.step_3_improve import pull_for, pulled
from streamjob_planners.mending import mended
from streamjob_planners.model import Budget, MoveReason, PlanParams
from streamjob_planners.units import contracted, prices
from streamjob_planners.verify import verify

PARAMS = PlanParams(budget=Budget(max_migrations=6), deadline_s=30.0, max_iterations=20_000)


def _rounds(name, model, count, params=PARAMS):
    planner, plans = registry.get(name), []
    for number in range(count):
        plan = planner.solve(model, params, np.random.default_rng(number), time.monotonic)
        assert verify(model, plan, params) == ()
        plans.append(plan)
        model = dataclasses.replace(model, node_of=plan.node_of, load=measures.planned_load(model, plan.node_of))
    return plans, model


@pytest.mark.parametrize("name", ["albic", "albic-paper"])
def test_collocation_grows_and_the_load_distance_is_kept(name, one_to_one):
    plans, _ = _rounds(name, one_to_one(6, 20, 6), 8)
    factors = [plan.after.collocation_factor for plan in plans]
    assert factors[-1] > plans[0].before.collocation_factor
    assert factors == sorted(factors)
    assert all(plan.after.load_distance <= 10.0 for plan in plans)


@pytest.mark.parametrize("budget", [{"max_state_bytes": 99.0}, {"max_cost_s": 9.0, "max_migrations": 0}])
def test_of_a_budget_that_pays_for_no_key_group_no_number_of_rounds_is_told(one_to_one, budget):
    """Each key group has 100 bytes: the walk would never begin, however many rounds there are."""
    (plan,), _ = _rounds("albic", one_to_one(6, 20, 6), 1, dataclasses.replace(PARAMS, budget=Budget(**budget)))
    assert plan.moves == ()
    assert not any("round(s)" in note for note in plan.notes)


def test_long_chains_become_whole_at_the_pace_of_the_budget(one_to_one):
    plans, _ = _rounds("albic", one_to_one(6, 20, 20), 22)
    assert plans[-1].after.collocation_factor == 100.0
    assert plans[-1].moves == ()
    assert sum(len(plan.moves) for plan in plans) <= 6 * 20 - 6 * 3


@pytest.mark.parametrize("seed", [1, 2])
def test_the_papers_chain_of_twenty_is_whole_within_36_rounds(one_to_one, seed):
    params = PlanParams(budget=Budget(max_migrations=20), deadline_s=30.0, max_iterations=20_000)
    plans, _ = _rounds("albic", one_to_one(40, 20, 20, seed=seed), 37, params)
    assert plans[35].after.collocation_factor == 100.0
    assert max(plan.after.load_distance for plan in plans) <= 10.0
    assert plans[36].moves == ()


def test_one_to_one_pairs_are_together_within_22_rounds(one_to_one):
    params = PlanParams(budget=Budget(max_migrations=20), deadline_s=30.0, max_iterations=20_000)
    plans, _ = _rounds("albic", one_to_one(40, 20, 2), 22, params)
    assert plans[-1].after.collocation_factor == 100.0
    assert max(plan.after.load_distance for plan in plans) <= 10.0


def test_the_published_form_pulls_one_pair_a_round(one_to_one):
    model = one_to_one(6, 20, 2)
    plan = registry.get("albic-paper").solve(model, PARAMS, np.random.default_rng(0), time.monotonic)
    joined = [move for move in plan.moves if move.reason is MoveReason.COLLOCATE]
    assert 1 <= len(joined) <= 2


def test_improved_albic_is_quiet_once_converged(one_to_one):
    plans, _ = _rounds("albic", one_to_one(6, 20, 2), 16)
    assert [len(plan.moves) for plan in plans[-3:]] == [0, 0, 0]
    assert plans[-1].after.collocation_factor == 100.0


@pytest.mark.parametrize("name", ["albic", "albic-paper"])
def test_sets_are_split_where_the_load_distance_needs_it(name, small_model):
    # One node holds a chain of eight and nothing else fits: whole sets cannot be balanced.
    links = {(i, i + 1): 10.0 for i in range(7)}
    model = small_model([0] * 8, [10.0] * 8, links, n_nodes=2, operators=list(range(8)))
    plans, _ = _rounds(name, model, 1, PlanParams(deadline_s=30.0, max_iterations=20_000))
    assert plans[0].after.load_distance <= 10.0
    assert plans[0].after.collocation_factor >= 40.0


@pytest.mark.parametrize("name", ["albic", "albic-paper"])
def test_saved_load_enters_the_plan(name, one_to_one):
    model = one_to_one(4, 10, 2, traffic_load_ratio=0.001)
    plans, after = _rounds(name, model, 12)
    assert plans[-1].after.mean < plans[0].before.mean
    assert after.load.sum() < model.load.sum()
    assert all(plan.after.load_index <= 100.0 for plan in plans)


def test_marked_nodes_are_emptied_while_partners_gather(one_to_one):
    model = one_to_one(6, 20, 2, marked=np.array([True] + [False] * 5))
    plans, _ = _rounds("albic", model, 12)
    left = [plan.after.marked_groups for plan in plans]
    assert left[0] < 20
    assert left[-1] == 0
    assert left == sorted(left, reverse=True)


def test_pins_hold_partners_apart(small_model):
    model = small_model([0, 1], [1.0, 1.0], {(0, 1): 9.0}, n_nodes=2, operators=[0, 1], pinned=np.array([True, True]))
    assert _rounds("albic", model, 1)[0][0].moves == ()
    assert _rounds("albic-paper", model, 1)[0][0].moves == ()


def test_a_budget_of_several_limits_is_one_price(one_to_one):
    model = one_to_one(2, 4, 2)
    priced = prices(model, Budget(max_migrations=4, max_state_bytes=200.0))
    assert priced.cost.tolist() == [0.5] * 8
    assert priced.limit == 1.0
    assert prices(model, Budget(max_migrations=3)).limit == 3.0
    assert prices(model, Budget()).limit == float("inf")


def test_units_sum_up_their_key_groups(one_to_one):
    model = one_to_one(2, 4, 2)
    unit_of = model.node_of.copy()
    units = contracted(model, unit_of, np.ones(8))
    assert units.n_groups == 2
    assert units.load.tolist() == pytest.approx(measures.node_loads(model, model.node_of).tolist())
    assert units.migration_cost_s.tolist() == [4.0, 4.0]


def test_the_three_cases_of_step_three(small_model):
    # Groups 0, 1 are a set on the heavy node 0; group 2 is alone on node 1, group 3 on the light node 2.
    model = small_model([0, 0, 1, 2], [9.0, 9.0, 5.0, 1.0], n_nodes=3)
    unit_of = np.array([0, 0, 1, 2])
    assert pull_for(model, unit_of, (1, 2)).node == 0
    assert pull_for(model, unit_of, (2, 3)).node == 2
    assert pull_for(model, np.array([0, 1, 2, 2]), (0, 1)).node == 0
    moved = pulled(model, unit_of, pull_for(model, unit_of, (2, 3)), prices(model, Budget(max_migrations=1)))
    assert moved.tolist() == [0, 0, 2, 2]
    assert pulled(model, unit_of, pull_for(model, unit_of, (2, 3)), prices(model, Budget(max_migrations=0))) is None


@pytest.mark.parametrize("field", ["score_factor", "partition_step", "max_partition_load", "least_gain_ratio"])
def test_bad_settings_say_their_name(field):
    with pytest.raises(ValueError, match=field):
        AlbicSettings(**{field: -1.0})


def test_mending_takes_the_worst_nodes_and_never_makes_a_new_worst(one_to_one):
    model = one_to_one(20, 20, 2, seed=4)
    before = measures.load_distance(model, model.node_of)
    owners = mended(model, 6.0, 0.1, 0.0)
    assert 0 < (owners != model.node_of).sum() <= 6
    assert measures.load_distance(model, owners) < before
    assert measures.utilisation(model, owners).var() < measures.utilisation(model, model.node_of).var()
    assert (mended(model, 6.0, before, 0.0) == model.node_of).all()
    assert (mended(model, 6.0, 0.1, 100.0) == model.node_of).all()


def test_up_to_the_limit_balance_does_not_undo_collocation(small_model):
    """Any balance parts the sender on node 0 from a receiver: too little for a walk to undo it, too much to be done."""
    load = [32.0, *[6.0] * 4, *[11.5] * 8]
    model = small_model(
        [*[0] * 5, *[1] * 4, *[2] * 4],
        load,
        {**{(0, receiver): 100.0 for receiver in range(1, 5)}, (5, 6): 19_600.0},
        n_nodes=3,
        operators=[0, *[1] * 4, 2, *[3] * 7],
    )
    moves = {}
    for limit in (10.0, 6.0):
        params = dataclasses.replace(PARAMS, max_load_distance=limit)
        (plan,), _ = _rounds("albic", model, 1, params)
        moves[limit] = len(plan.moves)
    assert moves[10.0] == 0
    assert moves[6.0] > 0
