"""Exact exchanges: narrower bands within the budget, savings within the bands, and nothing onto marked nodes."""

from __future__ import annotations

import numpy as np
import pytest
from pieces import cheapest, list_bundles, look_at

from streamjob_planners import drain
from streamjob_planners.closing import closed
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.kernel.bundles import GIVES, TAKES
from streamjob_planners.kernel.exchange import save
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.tightening import tightened


@pytest.fixture
def problem_of(small_model):
    """Twelve nodes with heavy tails; moves cost what they like."""
    rng = np.random.default_rng(3)
    load = rng.permutation(np.arange(1, 241) ** -0.5)
    at, cost = rng.integers(0, 12, 240).tolist(), rng.lognormal(0.0, 0.5, 240)

    def made(cost_s=20.0, **changes):
        loads = (600 * load / load.sum()).tolist()
        model = small_model(at, loads, n_nodes=12, migration_cost_s=cost, **changes)
        return compile_problem(model, PlanParams(budget=Budget(max_cost_s=cost_s), tolerance=0.0))

    return made


def _closed(problem, seed=1, steps=300_000, now_s=0.0):
    engine, limits, aim = Engine(problem, seed), Limits(lambda: now_s, 1.0, steps), Distance(problem)
    engine.sort_groups(limits)
    before = tightened(engine, limits, aim, problem.model.node_of)
    return before, closed(engine, limits, aim, before)


def test_what_random_steps_leave_is_closed_within_the_budget(problem_of):
    problem = problem_of()
    before, found = _closed(problem)
    assert drain.stretch(problem, found) < 0.6 * drain.stretch(problem, before)
    assert problem.affordable(found)


def test_the_same_steps_give_the_same_placement_whatever_the_clock_says(problem_of):
    problem = problem_of()
    assert np.array_equal(_closed(problem)[1], _closed(problem, now_s=0.9)[1])


def test_nothing_comes_to_a_marked_node(problem_of):
    problem = problem_of(marked=np.arange(12) < 2)
    before, found = _closed(problem)
    assert not np.array_equal(before, found)
    came = problem.model.marked[found] & (found != before)
    assert not came.any()


def test_without_time_nothing_moves(problem_of):
    problem = problem_of()
    before, found = _closed(problem, now_s=1.0)
    assert np.array_equal(found, before)


def test_saving_spends_less_and_leaves_every_node_in_its_band(problem_of):
    problem = problem_of()
    engine, limits, aim = Engine(problem, 1), Limits(lambda: 0.0, 1.0, 100_000), Distance(problem)
    before = tightened(engine, limits, aim, problem.model.node_of)
    engine.load(before)
    engine.set_bands(*aim.bands(drain.stretch(problem, before)))
    save(engine.fixed, engine.state, engine.table, 200)
    found = engine.placement()
    assert drain.stretch(problem, found) <= drain.stretch(problem, before) + 1e-9
    assert problem.spent(found)[0] < 0.95 * problem.spent(before)[0]


def test_the_cheapest_exchange_is_that_of_trying_all(problem_of):
    problem = problem_of()
    engine, model = Engine(problem, 1), problem.model
    look_at(engine.fixed, engine.state, engine.table, GIVES, 0)
    look_at(engine.fixed, engine.state, engine.table, TAKES, 1)
    list_bundles(engine.fixed, engine.state, engine.table, (0, 1), 1.0)
    table, between = engine.table, (1.0, 1.01)
    pair = cheapest(table, 1.0, between)
    sides = [_bundles(model, problem.parts(), node) for node in (0, 1)]
    costs = [
        one[1] + other[1] for one in sides[0] for other in sides[1] if between[0] <= one[0] - other[0] <= between[1]
    ]
    assert len(costs) > 10
    assert table.cost[GIVES, pair[0]] + table.cost[TAKES, pair[1]] == pytest.approx(min(costs))
    assert between[0] <= table.load[GIVES, pair[0]] - table.load[TAKES, pair[1]] <= between[1]


def _bundles(model, part, node):
    """Loads and costs of all bundles of up to two groups of a node that is home to all it has."""
    groups = np.flatnonzero(model.node_of == node)
    assert groups.size <= 24
    pairs = [(a, b) for a in groups for b in groups if a < b]
    return [
        (0.0, 0.0),
        *((sum(model.load[list(one)]), sum(part[list(one)])) for one in [*((a,) for a in groups), *pairs]),
    ]
