"""Covering and fitting: a first plan within the budget that is far better than today's, by chance another one."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners import covering, drain, first_plans
from streamjob_planners.covering import covered
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.first_plans import tight_plan
from streamjob_planners.levelling import levelled
from streamjob_planners.model import Budget, PlanParams, Resource
from streamjob_planners.problem import compile_problem

BUDGET = Budget(max_cost_s=20.0)


@pytest.fixture
def model(small_model):
    """Twelve nodes with heavy tails; moves cost what they like."""
    rng = np.random.default_rng(3)
    load = rng.permutation(np.arange(1, 241) ** -0.5)
    load *= 600 / load.sum()
    return lambda **changes: small_model(
        rng.integers(0, 12, 240).tolist(),
        load.tolist(),
        n_nodes=12,
        migration_cost_s=rng.lognormal(0.0, 0.5, 240),
        **changes,
    )


def _covered(model, part=1.0, noise=0.0, seed=1, now_s=0.0, budget=BUDGET):
    problem = compile_problem(model, PlanParams(budget=budget, tolerance=0.0))
    engine, limits = Engine(problem, seed), Limits(lambda: now_s, 1.0, None)
    found = covered(engine, limits, model.node_of, part, noise)
    return problem, found


def test_it_is_near_within_the_budget(model):
    problem, found = _covered(model())
    assert drain.stretch(problem, found) < 0.2 * drain.stretch(problem, problem.model.node_of)
    assert problem.affordable(found)


def test_it_spends_no_more_than_its_part(model):
    problem, found = _covered(model(), part=0.5)
    assert drain.stretch(problem, found) < drain.stretch(problem, problem.model.node_of)
    assert problem.spent(found)[0] <= 0.5 * 20.0


def test_marked_nodes_give_what_others_lack(model):
    marked = np.arange(12) < 3
    problem, found = _covered(model(marked=marked), budget=Budget(max_migrations=60))
    assert drain.stretch(problem, found) < 0.2 * drain.stretch(problem, problem.model.node_of)
    assert not marked[found[found != problem.model.node_of]].any()


def test_nothing_enters_a_node_whose_memory_is_full(model):
    use = np.ones(240)
    loaded = model(resources=(Resource(name="memory", use=use, limit=np.full(12, 22.0)),))
    problem, found = _covered(loaded)
    held = np.bincount(found, use, 12)
    assert not np.array_equal(found, loaded.node_of)
    assert (held <= problem.limits[0]).all()


def test_what_the_emptiest_node_has_no_memory_for_goes_to_the_next(small_model):
    memory = Resource(name="memory", use=np.ones(24), limit=np.array([30.0, 0.5, 30.0]))
    one = small_model([0] * 20 + [2] * 4, [3.0] * 20 + [4.0] * 4, n_nodes=3, resources=(memory,))
    _, found = _covered(one, budget=Budget(max_migrations=12))
    assert np.bincount(found, minlength=3)[1] == 0
    assert np.bincount(found, one.load, 3)[2] > 16.0, "as before"


def test_noise_leads_to_another_choice_and_a_seed_to_the_same(model):
    made = model()
    plain, one, same, other = (
        _covered(made, noise=0.3 * on, seed=seed)[1] for on, seed in ((0, 1), (1, 1), (1, 1), (1, 2))
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, plain)
    assert not np.array_equal(one, other)


def test_without_time_nothing_moves(model):
    problem, found = _covered(model(), now_s=1.0)
    assert np.array_equal(found, problem.model.node_of)


def test_the_first_plan_does_not_depend_on_the_clock_under_a_step_limit(model):
    made = model()
    problem = compile_problem(made, PlanParams(budget=BUDGET, tolerance=0.0))
    found = [
        tight_plan(Engine(problem, 1), Limits(lambda now_s=now_s: now_s, 1.0, 20_000), 0.5, made.node_of)
        for now_s in (0.0, 0.1)
    ]
    assert np.array_equal(*found)
    assert drain.stretch(problem, found[0]) < 0.05 * drain.stretch(problem, made.node_of)


def _late(threads, engine, limits, works, meanwhile):
    """Two threads that bring nothing before time is over."""
    return [], meanwhile()


def test_the_first_plan_is_covered_even_when_both_threads_are_late(model, monkeypatch):
    monkeypatch.setattr(first_plans, "side_by_side", _late)
    made = model()
    problem = compile_problem(made, PlanParams(budget=BUDGET, tolerance=0.0))
    engine, limits = Engine(problem, 1), Limits(lambda: 0.0, 1.0, None)
    first = levelled(engine, limits, 0.0)
    found = tight_plan(engine, limits, 0.5, first)
    assert drain.stretch(problem, found) < 0.3 * drain.stretch(problem, first)
    assert problem.affordable(found)


def test_it_is_given_out_once_and_closer_bands_do_the_rest(model, monkeypatch):
    """On a hundred thousand groups it takes as long as ten of their passes."""
    given, given_out = [], covering.given_out
    monkeypatch.setattr(covering, "given_out", lambda *made: given.append(given_out(*made)))
    problem, found = _covered(model())
    assert drain.stretch(problem, found) < drain.stretch(problem, problem.model.node_of)
    assert len(given) == 1
