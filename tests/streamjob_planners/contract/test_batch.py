"""What every planner promises of models that say what a batch takes; marked promises by the objective batch time."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_planners import facts
from streamjob_planners.batch.ideal import ideal_placement
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import Budget, GroupId, LoadModel, Objective, PlanParams
from streamjob_planners.verify import verify

QUICK = settings(max_examples=25, derandomize=True)
PARAMS = PlanParams(deadline_s=1.0, max_iterations=5_000)


def _solve(planner, model, params, clock, seed=7):
    return planner.solve(model, params, np.random.default_rng(seed), clock)


def _batch_s(model, node_of):
    return facts.batch_facts(model, node_of)["batch_s"]


def _chained(node_of: list[int], level: list[int], n_nodes: int, **shape: object) -> LoadModel:
    """A query whose key groups all take a second; executors of one slot unless told otherwise."""
    n_groups = len(node_of)
    fields: dict[str, object] = {
        "level": np.array(level),
        "task_s": np.ones(n_groups),
        "spread_s": np.zeros(n_groups),
        "slots": np.ones(n_nodes, dtype=np.int64),
        "speed": np.ones(n_nodes),
    }
    return LoadModel(
        node_ids=tuple(f"n{i}" for i in range(n_nodes)),
        capacity=np.ones(n_nodes),
        marked=np.zeros(n_nodes, dtype=np.bool_),
        group_ids=tuple(GroupId(operator=op, partition=k) for k, op in enumerate(level)),
        node_of=np.array(node_of),
        load=np.full(n_groups, 10.0),
        migration_cost_s=np.full(n_groups, 0.1),
        state_bytes=np.full(n_groups, 100.0),
        pinned=np.zeros(n_groups, dtype=np.bool_),
        batch=BatchShape(**{**fields, **shape}),
    )


@QUICK
@given(data=st.data())
def test_the_judge_finds_nothing_and_the_batch_gets_no_longer(planner, any_batch, stepping_clock, data):
    model, params = data.draw(any_batch)
    plan = _solve(planner, model, params, stepping_clock())
    assert verify(model, plan, params) == ()
    if facts.on_marked(model, plan.node_of) == facts.on_marked(model, model.node_of):
        assert _batch_s(model, plan.node_of) <= _batch_s(model, model.node_of) + 1e-6


@QUICK
@given(data=st.data())
def test_a_bound_on_the_batch_is_told_and_holds(planner, any_batch, stepping_clock, data):
    model, params = data.draw(any_batch)
    plan = _solve(planner, model, params, stepping_clock(0.0))
    assert 0.0 < plan.batch_bound_s <= _batch_s(model, plan.node_of) + 1e-9


@QUICK
@given(data=st.data())
def test_same_seed_same_plan_and_nothing_given_is_changed(planner, any_batch, held_by, stepping_clock, data):
    model, params = data.draw(any_batch)
    params, before = dataclasses.replace(params, deadline_s=60.0), [array.copy() for array in held_by(model)]
    first, second = (_solve(planner, model, params, stepping_clock(0.0)) for _ in range(2))
    assert first.moves == second.moves
    assert all(np.array_equal(now, then) for now, then in zip(held_by(model), before, strict=True))


@QUICK
@given(data=st.data())
def test_by_load_distance_the_batch_is_not_looked_at(planner, any_batch, stepping_clock, data):
    model, params = data.draw(any_batch)
    params = dataclasses.replace(params, objective=Objective.LOAD_DISTANCE)
    plan = _solve(planner, model, params, stepping_clock())
    assert verify(model, plan, params) == ()
    assert plan.batch_bound_s is None


def test_stages_one_after_another_are_levelled_each(planner, promises, stepping_clock):
    """One stage on one executor, the next one on the other: as much load on both, and a batch twice too long."""
    promises("batch time")
    model = _chained([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1], 2)
    plan = _solve(planner, model, PARAMS, stepping_clock(0.0))
    assert _batch_s(model, plan.node_of) == pytest.approx(4.0)
    assert plan.proven_optimal


def test_level_nodes_prove_nothing_of_the_batch_where_there_was_no_time_for_its_bound(planner, stepping_clock):
    """As much load on both executors, which is the least load distance, and a batch twice too long."""
    model = _chained([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1], 2)
    plan = _solve(planner, model, dataclasses.replace(PARAMS, deadline_s=0.0), stepping_clock())
    assert not plan.proven_optimal or _batch_s(model, plan.node_of) == pytest.approx(4.0)


def test_executors_of_several_slots_are_filled_by_slots(planner, promises, stepping_clock):
    promises("batch time")
    model = _chained([0] * 6 + [1] * 6, [0] * 12, 2, slots=np.array([1, 3]))
    plan = _solve(planner, model, PARAMS, stepping_clock(0.0))
    assert _batch_s(model, plan.node_of) == pytest.approx(3.0)


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_new_executors_get_work_though_no_maximum_falls_within_the_budget(planner, promises, stepping_clock, slots):
    """Eight executors, each as full as the next, and four new ones: five moves shorten no batch, and are made."""
    promises("batch time")
    node_of = np.repeat(np.arange(8), 3 * slots).tolist()
    model = _chained(node_of, [0] * len(node_of), 12, slots=np.full(12, slots))
    params = dataclasses.replace(PARAMS, budget=Budget(max_migrations=5))
    plan = _solve(planner, model, params, stepping_clock(0.0))
    assert verify(model, plan, params) == ()
    assert plan.node_of.max() >= 8


def test_rounds_of_five_moves_fill_new_executors(planner, promises, stepping_clock):
    promises("batch time")
    model = _chained(np.repeat(np.arange(4), 6).tolist(), [0] * 24, 6)
    params = dataclasses.replace(PARAMS, budget=Budget(max_migrations=3))
    for _ in range(4):
        plan = _solve(planner, model, params, stepping_clock(0.0))
        assert verify(model, plan, params) == ()
        model = dataclasses.replace(model, node_of=plan.node_of)
    assert _batch_s(model, model.node_of) == pytest.approx(4.0)


def test_moves_that_do_not_pay_within_the_payback_are_not_made(planner, promises, stepping_clock):
    """A move would make batches a second shorter, and costs a hundred."""
    promises("batch time")
    model = _chained([0, 0, 0, 1], [0, 0, 0, 0], 2)
    dear = dataclasses.replace(model, migration_cost_s=np.full(4, 100.0))
    assert _solve(planner, dear, PARAMS, stepping_clock(0.0)).moves == ()
    assert _solve(planner, model, PARAMS, stepping_clock(0.0)).moves != ()


@pytest.mark.parametrize("seed", range(4))
def test_the_last_key_group_leaves_a_node_that_is_to_go(planner, promises, stepping_clock, seed):
    """Twelve executors are as level as can be, a thirteenth holds one group. A few moves elsewhere would make batches
    shorter, by less than may be noise, so that nobody would make them: that is no reason to stay."""
    promises("batch time")
    rng, each = np.random.default_rng(seed), 120
    task_s = np.concatenate([rng.lognormal(0.0, 0.5, each), rng.lognormal(-0.7, 0.9, each)])
    task_s[0] = 3.0
    level = np.repeat([0, 1], each)
    shape = {"task_s": task_s, "fixed_s": 0.5, "error_s": np.full(2 * each, 0.5)}
    model = _chained([0] * 2 * each, level.tolist(), 12, slots=np.full(12, 2), **shape)
    node_of = ideal_placement(model.batch)
    node_of[0] = 12
    model = _chained(node_of.tolist(), level.tolist(), 13, slots=np.full(13, 2), **shape)
    model = dataclasses.replace(model, marked=np.arange(13) == 12, load=task_s)
    plan = _solve(planner, model, dataclasses.replace(PARAMS, max_iterations=50_000), stepping_clock(0.0))
    assert plan.node_of[0] != 12
    assert _batch_s(model, plan.node_of) <= 1.05 * _batch_s(model, model.node_of)
