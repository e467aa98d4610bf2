"""`search` with the time of a batch as its objective: small batches whose best plan is known, and rules it keeps."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

from streamjob_planners import facts, registry, verify
from streamjob_planners.batch.floor import floors_s
from streamjob_planners.batch.predict import levels_s
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.cells import cells_of, ends_s
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.model import Budget, LoadModel, Plan, PlanParams, Resource
from streamjob_planners.problem import compile_problem


@pytest.fixture
def batch_model(small_model):
    def make(node_of, task_s, *, n_nodes, level=None, slots=1, speed=1.0, **changes) -> LoadModel:
        shape = BatchShape(
            level=np.array(level if level is not None else [0] * len(node_of)),
            task_s=np.array(task_s, dtype=np.float64),
            spread_s=np.zeros(len(node_of)),
            slots=np.full(n_nodes, slots),
            speed=np.full(n_nodes, speed),
            fixed_s=0.5,
        )
        changes = {"migration_cost_s": np.full(len(node_of), 0.01), **changes}
        return small_model(list(node_of), list(task_s), n_nodes=n_nodes, batch=shape, **changes)

    return make


def solved(model: LoadModel, seed: int = 1, steps: int = 60_000, **params: object) -> Plan:
    settings = PlanParams(deadline_s=1e9, max_iterations=steps, **params)
    plan = registry.get("search").solve(model, settings, np.random.default_rng(seed), time.perf_counter)
    assert verify.verify(model, plan, settings) == ()
    return plan


def drawn(batch_model, seed: int, n_nodes: int = 6, **changes: object) -> LoadModel:
    """Three levels of forty tasks, anywhere."""
    rng = np.random.default_rng(seed)
    level = np.repeat([0, 1, 2], 40)
    task_s = rng.lognormal(0.0, 0.7, level.size)
    changes = {"slots": int(rng.integers(1, 4)), "speed": float(rng.uniform(0.5, 2.0)), **changes}
    return batch_model(rng.integers(0, n_nodes, level.size), task_s, n_nodes=n_nodes, level=level, **changes)


def test_levels_are_shortened_one_by_one_though_their_sums_are_level(batch_model):
    model = batch_model([0] * 8 + [1] * 8, [1.0] * 16, n_nodes=2, level=[0] * 8 + [1] * 8)
    plan = solved(model)
    assert plan.before.load_distance == pytest.approx(0.0)
    assert (plan.before.batch_s, plan.after.batch_s) == (pytest.approx(16.5), pytest.approx(8.5))
    assert plan.proven_optimal
    assert len(plan.moves) == 8


def test_a_long_task_goes_where_it_is_started_first(batch_model):
    """Four slots and one task of 8 s: a sum over slots would call any placement of it equally good."""
    model = batch_model([0] * 9 + [1] * 3, [1.0] * 8 + [8.0] + [1.0] * 3, n_nodes=2, slots=4)
    plan = solved(model)
    assert plan.before.batch_s == pytest.approx(10.5)
    assert plan.after.batch_s == pytest.approx(8.5)


def test_a_budget_too_small_to_lower_the_maximum_still_fills_empty_nodes(batch_model):
    """10 executors become 22: nine moves leave one of the ten as full as before, and all nine are made."""
    model = batch_model([node for node in range(10) for _ in range(20)], [0.5] * 200, n_nodes=22)
    plan = solved(model, budget=Budget(max_migrations=9))
    assert len(plan.moves) == 9
    assert plan.after.batch_s == pytest.approx(plan.before.batch_s)
    assert plan.after.level_rms_s < plan.before.level_rms_s
    assert all(model.node_of[move.group] < 10 <= move.target for move in plan.moves)


def test_no_move_is_made_that_does_not_pay_its_pause_back(batch_model):
    model = drawn(batch_model, 3, migration_cost_s=np.full(120, 2.0))
    gained = {payback: solved(model, payback_batches=payback) for payback in (0.0, 10.0, 1e6)}
    assert not gained[0.0].moves
    assert 0 < len(gained[10.0].moves) < len(gained[1e6].moves)
    for payback, plan in gained.items():
        sooner = plan.before.batch_s - plan.after.batch_s
        evener = plan.before.level_rms_s - plan.after.level_rms_s
        assert not plan.moves or sooner + max(evener, 0.0) >= plan.cost_s / payback


@pytest.mark.parametrize("move_s", [0.26, 50.0])
def test_nodes_that_have_come_get_their_share_whatever_moves_cost(batch_model, move_s):
    """10 executors become 26 in a surge. A move to one that has nothing need not pay, others must."""
    rng = np.random.default_rng(6)
    level, node_of = np.repeat([0, 1], 200), np.tile(np.arange(200) % 10, 2)
    cost_s = np.full(400, move_s)
    model = batch_model(
        node_of, rng.lognormal(-2.0, 0.5, 400), n_nodes=26, level=level, slots=2, migration_cost_s=cost_s
    )
    plan = solved(model)
    assert plan.after.batch_s <= 1.05 * plan.batch_bound_s
    assert move_s < 1.0 or all(move.target >= 10 for move in plan.moves)


@pytest.mark.parametrize("seed", range(4))
def test_every_move_gains_something(batch_model, seed):
    model = drawn(batch_model, seed)
    plan = solved(model)
    for move in plan.moves:
        without = plan.node_of.copy()
        without[move.group] = move.source
        was, now = facts.batch_facts(model, without), facts.batch_facts(model, plan.node_of)
        assert was["batch_s"] > now["batch_s"] or was["level_rms_s"] > now["level_rms_s"]


@pytest.mark.parametrize("seed", range(4))
def test_cells_end_when_the_model_of_batches_says(batch_model, seed):
    model = drawn(batch_model, seed)
    problem = compile_problem(model, PlanParams())
    fixed = cells_of(problem, model.batch)
    engine = Engine(problem, 7, fixed)
    ends = ends_s(fixed, model.node_of)
    assert ends == pytest.approx(levels_s(model.batch, model.node_of, model.batch.task_s))
    high = np.repeat(ends.max(axis=1) * 0.6, model.n_nodes) * fixed.capacity
    engine.set_bands(np.full_like(high, -np.inf), high, high)
    engine.run(Limits(lambda: 0.0, 1.0, None), 3000, 0.3, drain=0.0, price=0.0)
    kept = (engine.state.loads / fixed.capacity).reshape(ends.shape)
    assert kept == pytest.approx(levels_s(model.batch, engine.placement(), model.batch.task_s))
    assert not np.array_equal(engine.placement(), model.node_of)


@pytest.mark.parametrize("seed", range(6))
def test_rules_are_kept(batch_model, seed):
    """Pins, memory, marks and three budgets at once; `verify` judges in `solved`."""
    rng = np.random.default_rng(seed)
    use = rng.uniform(0.0, 1.0, 120)
    model = drawn(
        batch_model,
        seed,
        pinned=rng.random(120) < 0.2,
        marked=np.array([True] + [False] * 5),
        resources=(Resource(name="memory", use=use, limit=np.full(6, use.sum() / 6 * 1.2)),),
        state_bytes=rng.uniform(0.0, 100.0, 120),
    )
    budget = Budget(max_cost_s=0.4, max_migrations=50, max_state_bytes=1500.0)
    plan = solved(model, seed, budget=budget)
    assert plan.after.marked_groups < plan.before.marked_groups
    assert plan.batch_bound_s <= plan.after.batch_s + 1e-9


def test_marked_nodes_are_emptied_and_batches_stay_short(batch_model):
    model = drawn(batch_model, 5, marked=np.array([True] + [False] * 5))
    rounds = 0
    while model.marked[model.node_of].any() and rounds < 12:
        plan = solved(model, budget=Budget(max_migrations=10))
        model, rounds = dataclasses.replace(model, node_of=plan.node_of), rounds + 1
    assert rounds < 12
    assert plan.after.batch_s <= 1.15 * (plan.batch_bound_s or 0.0)


def test_key_groups_without_work_leave_together(batch_model):
    """Of four nodes that are to go each has a dozen of them, at no price: one plan empties all."""
    node_of = np.arange(60) % 5
    model = batch_model(node_of, np.where(node_of == 0, 1.0, 0.0), n_nodes=5, marked=np.arange(5) > 0)
    assert not model.marked[solved(model, steps=20_000).node_of].any()


def test_the_same_seed_gives_the_same_plan(batch_model):
    model = drawn(batch_model, 8)
    first, second = solved(model, 3), solved(model, 3)
    assert np.array_equal(first.node_of, second.node_of)


def test_nothing_goes_below_the_floors(batch_model):
    """A marked node helps with what it has: work shared out among the others alone would be no bound."""
    model = batch_model([0, 0, 1, 1], [1.0] * 4, n_nodes=2, marked=np.array([True, False]))
    problem = compile_problem(model, PlanParams())
    assert floors_s(problem, model.batch) == pytest.approx([2.0])
    assert ends_s(cells_of(problem, model.batch), model.node_of).max() == pytest.approx(2.0)


@pytest.mark.parametrize("n_groups", [0, 1])
def test_hardly_any_key_groups(batch_model, n_groups):
    plan = solved(batch_model([0] * n_groups, [1.0] * n_groups, n_nodes=3))
    assert not plan.moves
