"""What the default planner promises beyond the contract."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from streamjob_planners import balance, drain, goals, measures, phases, registry
from streamjob_planners.crossings import Crossings
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.model import Budget, PlanParams, Resource
from streamjob_planners.problem import compile_problem
from streamjob_planners.search import SearchPlanner
from streamjob_planners.thin import thin_out
from streamjob_planners.verify import verify

STEPS = 60_000


def _solve(model, name="search", **params):
    params = PlanParams(**{"deadline_s": 30.0, "max_iterations": STEPS, **params})
    plan = registry.get(name).solve(model, params, np.random.default_rng(1), time.monotonic)
    assert verify(model, plan, params) == ()
    return plan


@pytest.fixture
def uneven(small_model):
    """Eight nodes with ten groups each; two are overloaded, two are idle."""
    rng = np.random.default_rng(4)
    load = 5.0 * rng.uniform(0.95, 1.05, 80)
    load[:20] *= 1.8
    load[20:40] *= 0.2
    return small_model((np.arange(80) // 10).tolist(), load.tolist(), n_nodes=8)


def test_the_load_distance_falls_close_to_the_bound(uneven):
    plan = _solve(uneven, tolerance=0.0, budget=Budget(max_migrations=20))
    assert plan.before.load_distance > 30.0
    assert plan.after.load_distance < 0.5
    assert plan.lower_bound is not None


def test_below_the_tolerance_nothing_moves(uneven):
    assert _solve(uneven, tolerance=45.0).moves == ()


def test_the_tolerance_and_the_price_save_moves(uneven):
    exact = _solve(uneven, tolerance=0.0)
    good_enough = _solve(uneven, tolerance=3.0)
    assert good_enough.after.load_distance <= 3.0
    assert len(good_enough.moves) < len(exact.moves)
    assert _solve(uneven, price_per_move=50.0).moves == ()


def test_the_rest_is_balanced_below_the_skew_floor(small_model):
    load = [90.0, *np.linspace(2.0, 4.0, 12)]
    model = small_model([0, *[1] * 12], load, n_nodes=4)
    plan = _solve(model, tolerance=0.0)
    rest = np.sort(measures.utilisation(model, plan.node_of))[:3]
    assert plan.after.load_distance == pytest.approx(90.0 - plan.after.mean)
    assert plan.lower_bound == pytest.approx(plan.after.load_distance, rel=1e-5)
    assert rest.max() - rest.min() < 1.0


def test_heavy_groups_placed_first_save_what_drains_marked_nodes(small_model, monkeypatch):
    rng = np.random.default_rng(3)
    load = np.where(rng.random(400) < 0.1, rng.uniform(8.0, 12.0, 400), rng.uniform(0.5, 1.5, 400))
    model = small_model(
        rng.integers(0, 40, 400).tolist(),
        (load * 1900 / load.sum()).tolist(),
        n_nodes=40,
        marked=np.arange(40) < 2,
        migration_cost_s=rng.lognormal(0.0, 1.0, 400),
    )
    budget = Budget(max_cost_s=0.05 * float(model.migration_cost_s.sum()))
    placed = _solve(model, tolerance=0.0, budget=budget, max_iterations=400_000).after
    monkeypatch.setattr(phases, "few_decide", lambda _: False)
    without = _solve(model, tolerance=0.0, budget=budget, max_iterations=400_000).after
    assert placed.load_distance <= drain.GRAIN_RATIO * float(model.load.mean()) < without.load_distance
    assert placed.marked_groups < without.marked_groups


def test_an_overloaded_node_is_relieved_before_marked_ones_are_emptied(small_model):
    load = [30.0, 30.0, 30.0, 5.0, 5.0, 5.0, 25.0, 25.0]
    marked = np.array([False, False, False, True])
    model = small_model([0, 0, 0, 3, 3, 3, 1, 2], load, n_nodes=4, marked=marked)
    plan = _solve(model, budget=Budget(max_migrations=1))
    assert plan.moves[0].group in (0, 1, 2)


def test_a_drain_stays_within_its_slack(uneven):
    model = dataclasses.replace(uneven, marked=np.arange(8) == 7)
    params = PlanParams(budget=Budget(max_migrations=15))
    problem = compile_problem(model, params)
    balanced = _solve(dataclasses.replace(model), budget=Budget(max_migrations=15))
    limit = drain.drain_limit(problem, drain.stretch(problem, balanced.node_of))
    assert balanced.after.marked_groups < balanced.before.marked_groups
    assert balanced.after.load_distance <= limit


def test_a_resource_that_is_scarce_is_kept(uneven):
    use = np.ones(80)
    model = dataclasses.replace(uneven, resources=(Resource(name="memory", use=use, limit=np.full(8, 12.0)),))
    plan = _solve(model, tolerance=0.0)
    assert np.bincount(plan.node_of, minlength=8).max() <= 12
    assert plan.after.load_distance < plan.before.load_distance


def test_rest_distance_is_infinite_when_the_load_distance_is_lost(small_model):
    model = small_model([0, 1, 1], [90.0, 5.0, 5.0], n_nodes=3)
    aim = goals.RestDistance(compile_problem(model, PlanParams()), outer=57.0)
    assert aim.reached(np.array([0, 1, 2])) == pytest.approx(0.0)
    assert aim.reached(np.array([0, 0, 1])) == np.inf


def test_interpreted_loops_give_the_plan_of_compiled_ones():
    program = (
        "import numpy as np, time\n"
        "from streamjob_planners import registry\n"
        "from streamjob_planners.model import *\n"
        "rng = np.random.default_rng(0)\n"
        "ids = tuple(GroupId(operator=0, partition=k) for k in range(30))\n"
        "model = LoadModel(node_ids=tuple('abcd'), capacity=np.ones(4), marked=np.zeros(4, bool), group_ids=ids,\n"
        "    node_of=rng.integers(0, 4, 30), load=rng.random(30), migration_cost_s=np.ones(30),\n"
        "    state_bytes=np.ones(30), pinned=np.zeros(30, bool))\n"
        "params = PlanParams(budget=Budget(max_migrations=8), tolerance=0.0, deadline_s=60.0, max_iterations=3000)\n"
        "plan = registry.get('search').solve(model, params, np.random.default_rng(2), time.monotonic)\n"
        "print(plan.node_of.tolist())\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for disabled in ("0", "1")
    }
    assert len(answers) == 1


def test_moves_that_are_taken_back_free_their_part_of_the_budget(uneven):
    problem = compile_problem(uneven, PlanParams(budget=Budget(max_migrations=10), tolerance=100.0))
    engine = Engine(problem, 1)
    moved = uneven.node_of.copy()
    moved[:10] = 4
    assert np.array_equal(thin_out(engine, moved, Limits(lambda: 0.0, 1.0, None)), uneven.node_of)
    assert engine.state.spent.tolist() == [0.0, 0.0, 0.0]
    assert not engine.state.crossed.any()


@pytest.mark.parametrize(("many_nodes", "few_moves", "cooled"), [(100, 3.0, False), (120, 3.0, True), (100, 1.0, True)])
def test_many_nodes_with_few_moves_are_left_to_relays(small_model, monkeypatch, many_nodes, few_moves, cooled):
    """120 nodes and as many moves; whether there is a long pass, which looks at all nodes."""
    made = []
    monkeypatch.setattr(balance, "_long_pass", lambda *given: made.append(given) or (given[4][1], given[4][0]))
    monkeypatch.setattr(Crossings, "allow_less", lambda *_: False)
    monkeypatch.setattr(phases, "MANY_NODES", many_nodes)
    monkeypatch.setattr(phases, "FEW_MOVES", few_moves)
    rng = np.random.default_rng(5)
    load = rng.lognormal(0.0, 0.5, 1200)
    load *= 120 * 50.0 / load.sum()
    model = small_model(rng.integers(0, 120, load.size).tolist(), load.tolist(), n_nodes=120)
    planner = SearchPlanner(schedule=balance.Schedule(relays=1.0, relays_many=1.0))
    params = PlanParams(budget=Budget(max_migrations=120), tolerance=0.0, deadline_s=30.0, max_iterations=400_000)
    plan = planner.solve(model, params, np.random.default_rng(1), lambda: 0.0)
    assert verify(model, plan, params) == ()
    assert bool(made) is cooled
