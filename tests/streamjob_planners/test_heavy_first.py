"""Heavy groups first: within the budget, far nearer than what covers without them in mind, and none where none pays."""

from __future__ import annotations

import numpy as np
import pytest
from pieces import cost_of_giving, whole_price

from streamjob_planners import drain, heavy_first
from streamjob_planners.covering import covered
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.kernel.fluid import TAKEN, count_all
from streamjob_planners.model import Budget, PlanParams, Resource
from streamjob_planners.problem import compile_problem

COST_S = 40.0


@pytest.fixture
def model(small_model):
    """Twelve nodes with as many heavy groups, some with two; moves of heavy ones cost more, for their load less."""
    rng = np.random.default_rng(5)
    load = np.concatenate((np.full(12, 25.0), rng.uniform(0.5, 3.0, 168)))
    return lambda **changes: small_model(
        rng.integers(0, 12, 180).tolist(),
        (load * 600 / load.sum()).tolist(),
        n_nodes=12,
        migration_cost_s=np.sqrt(load) * rng.lognormal(0.0, 0.5, 180),
        **changes,
    )


def _engine(model, budget_s=COST_S, seed=1):
    return Engine(compile_problem(model, PlanParams(budget=Budget(max_cost_s=budget_s), tolerance=0.0)), seed)


def _placed(engine, between=(0.0, 0.0), now_s=0.0):
    return heavy_first.heavy_first(engine, Limits(lambda: now_s, 1.0, None), between)


def test_it_is_near_within_the_budget(model):
    engine = _engine(model())
    found, problem = _placed(engine, (0.0, 20.0)), engine.problem
    assert problem.affordable(found)
    plain = covered(engine, Limits(lambda: 0.0, 1.0, None), problem.model.node_of, 1.0, 0.0)
    assert drain.stretch(problem, found) < 0.5 * drain.stretch(problem, plain)


def test_where_all_its_aims_are_too_dear_there_is_none(model):
    assert _placed(_engine(model(), budget_s=4.0)) is None


def test_a_wider_aim_is_taken_where_the_nearest_is_too_dear(model):
    engine = _engine(model(), budget_s=12.0)
    wide = drain.stretch(engine.problem, engine.problem.model.node_of)
    assert _placed(engine, (0.0, 0.0)) is None
    found = _placed(engine, (0.0, wide))
    assert engine.problem.affordable(found)
    assert drain.stretch(engine.problem, found) < wide


def test_nothing_goes_to_a_marked_node(model):
    marked = np.arange(12) < 2
    engine = _engine(model(marked=marked), budget_s=80.0)
    found = _placed(engine, (0.0, 40.0))
    moved = found != engine.problem.model.node_of
    assert moved.any()
    assert not marked[found[moved]].any()


def test_nothing_enters_a_node_whose_memory_is_full(model):
    use = np.ones(180)
    full = model(resources=(Resource(name="memory", use=use, limit=np.where(np.arange(12) < 6, 1.0, 1e9)),))
    engine = _engine(full)
    found = _placed(engine, (0.0, 40.0))
    assert not np.array_equal(found, full.node_of)
    assert (np.bincount(found, use, 12) <= engine.problem.limits[0]).all()


def test_few_decide_where_the_heaviest_have_much_of_the_load(model, small_model):
    equal = small_model(list(range(12)) * 40, [1.0] * 480, n_nodes=12)
    nothing = small_model([0, 1], [0.0, 0.0], n_nodes=2)
    decide = (heavy_first.few_decide(_engine(one).problem) for one in (model(), equal, nothing))
    assert list(decide) == [True, False, False]


def test_of_two_kinds_the_heavier_one_alone_is_placed_first(model):
    problem = _engine(model()).problem
    assert np.flatnonzero(heavy_first.heaviest(problem)).tolist() == list(range(12))


def test_of_one_kind_four_for_each_node_are_placed_first(small_model):
    load = np.geomspace(1.0, 20.0, 180)
    one = small_model((np.arange(180) % 12).tolist(), load.tolist(), n_nodes=12)
    assert np.flatnonzero(heavy_first.heaviest(_engine(one).problem)).tolist() == list(range(132, 180))


def test_a_heavy_group_that_is_pinned_is_not_placed(model):
    pinned = np.arange(180) == 3
    found = np.flatnonzero(heavy_first.heaviest(_engine(model(pinned=pinned)).problem))
    assert found.tolist() == [one for one in range(12) if one != 3]


def test_without_time_nothing_is_moved(model):
    engine = _engine(model())
    found = _placed(engine, (0.0, 20.0), now_s=1.0)
    assert found is None or engine.problem.affordable(found)


def test_the_fluid_leaves_for_what_the_cheapest_light_groups_cost(small_model):
    load = [9.0, 2.0, 1.0, 4.0, 5.0]
    model = small_model([0, 0, 0, 0, 1], load, n_nodes=2, migration_cost_s=np.array([1.0, 1.0, 2.0, 1.0, 1.0]))
    engine = _engine(model, budget_s=10.0)
    engine.set_bands(np.array([10.0, 10.0]), np.array([11.0, 11.0]))
    heavy = np.array([True, False, False, False, True])
    fluid = heavy_first._fluid(engine, engine.problem.parts(), heavy)
    assert fluid.gives.tolist() == [0.0, 4.0, 6.0, 7.0, 0.0]
    assert fluid.costs == pytest.approx([0.0, 0.1, 0.2, 0.4, 0.0])
    assert cost_of_giving(fluid, 0, 5.0) == pytest.approx(0.15), "all of the cheapest, half of the next"
    assert cost_of_giving(fluid, 0, 8.0) == pytest.approx(0.4 + 10 * 0.2), "more than there is"
    count_all(engine.state, fluid)
    assert fluid.totals == pytest.approx([0.15, 5.0, 5.0])
    assert whole_price(fluid) == pytest.approx(fluid.totals[TAKEN])
