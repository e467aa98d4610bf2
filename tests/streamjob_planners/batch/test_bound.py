"""The bounds on batch time, and on it and its moves' price, against every placement of instances that can be listed."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from streamjob_planners import facts
from streamjob_planners.acceptance import empty_nodes
from streamjob_planners.batch.bound import batch_bound
from streamjob_planners.batch.floor import floor_s
from streamjob_planners.batch.predict import levels_s
from streamjob_planners.batch.priced import least_together, prices_of
from streamjob_planners.batch.shape import BatchShape, FreeStage
from streamjob_planners.model import Budget, FloatArray, GroupId, LoadModel, PlanParams
from streamjob_planners.problem import compile_problem

BUDGETS = (
    Budget(),
    Budget(max_migrations=0),
    Budget(max_migrations=1),
    Budget(max_migrations=2),
    Budget(max_cost_s=0.0),
    Budget(max_cost_s=1.0),
    Budget(max_state_bytes=900.0),
    Budget(max_cost_s=1.5, max_migrations=3, max_state_bytes=1200.0),
)


def chain(rng: np.random.Generator, n_groups: int, n_nodes: int, n_levels: int, **changes: object) -> LoadModel:
    """A query of chained operators; every tenth key group or so has nothing to do."""
    task_s = rng.choice([rng.lognormal(0.0, 1.0, n_groups), np.ones(n_groups)]) * (rng.random(n_groups) < 0.9)
    level = rng.integers(0, n_levels, n_groups)
    shape = BatchShape(
        level=level,
        task_s=task_s,
        spread_s=np.zeros(n_groups),
        slots=rng.integers(1, 4, n_nodes),
        speed=rng.choice([0.5, 1.0, 2.0], n_nodes) if rng.random() < 0.5 else np.ones(n_nodes),
        fixed_s=0.5,
        free_stages=(FreeStage(work_s=1.0, longest_s=0.3),),
    )
    fields: dict[str, object] = {
        "node_ids": tuple(f"n{i}" for i in range(n_nodes)),
        "capacity": shape.slots * shape.speed,
        "marked": np.zeros(n_nodes, dtype=np.bool_),
        "group_ids": tuple(GroupId(operator=int(at), partition=k) for k, at in enumerate(level)),
        "node_of": rng.integers(0, n_nodes, n_groups),
        "load": task_s,
        "migration_cost_s": rng.uniform(0.0, 1.0, n_groups),
        "state_bytes": rng.uniform(0.0, 1000.0, n_groups),
        "pinned": np.zeros(n_groups, dtype=np.bool_),
        "batch": shape,
    }
    return LoadModel(**{**fields, **changes})  # type: ignore[arg-type]


def tiny(seed: int) -> tuple[LoadModel, Budget]:
    """Two or three nodes, up to six key groups, and now and then marks and pins."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(1, 4))
    n_groups = int(rng.integers(1, 7 if n_nodes < 3 else 6))
    model = chain(
        rng,
        n_groups,
        n_nodes,
        int(rng.integers(1, 4)),
        marked=np.arange(n_nodes) < rng.integers(0, n_nodes),
        pinned=rng.random(n_groups) < rng.choice([0.0, 0.3]),
    )
    return model, BUDGETS[seed % len(BUDGETS)]


def least_s(model: LoadModel, budget: Budget) -> float:
    """The shortest batch of all placements that are allowed, by the judge's arithmetic."""
    limits = [
        (np.ones(model.n_groups), budget.max_migrations),
        (model.migration_cost_s, budget.max_cost_s),
        (model.state_bytes, budget.max_state_bytes),
    ]
    best = np.inf
    for nodes in itertools.product(range(model.n_nodes), repeat=model.n_groups):
        node_of = np.array(nodes)
        moved = np.flatnonzero(node_of != model.node_of)
        if model.pinned[moved].any() or model.marked[node_of[moved]].any():
            continue
        if all(most is None or price[moved].sum() <= most for price, most in limits):
            best = min(best, facts.batch_facts(model, node_of)["batch_s"] or 0.0)
    return best


def test_no_placement_is_below_the_bound() -> None:
    tight = 0
    for seed in range(240):
        model, budget = tiny(seed)
        found, best = batch_bound(model, PlanParams(budget=budget)), least_s(model, budget)
        assert found <= best + 1e-9, f"seed {seed}: bound {found}, reached {best}"
        tight += found >= 0.999 * best
    assert tight > 140  # it is the least time itself more often than not


def test_the_longest_task_decides_where_it_is_longer_than_the_mean() -> None:
    model = _of([9.0, 1.0, 1.0, 1.0], [0, 0, 1, 1])
    assert batch_bound(model, PlanParams()) == pytest.approx(9.0)


def test_three_equal_tasks_on_two_slots_take_two_rounds() -> None:
    model = _of([1.0, 1.0, 1.0], [0, 0, 0])
    assert batch_bound(model, PlanParams()) == pytest.approx(2.0)


def test_levels_share_one_budget() -> None:
    """Each of two levels would be halved by one move; one move halves one of them."""
    model = _of([1.0, 1.0, 3.0, 3.0], [0, 0, 1, 1], level=[0, 0, 1, 1])
    bounds = [batch_bound(model, PlanParams(budget=Budget(max_migrations=moves))) for moves in range(3)]
    assert bounds == pytest.approx([8.0, 5.0, 4.0])


def test_several_nodes_as_full_need_a_move_each() -> None:
    """Four nodes of two seconds and two new ones: fewer than four moves lower nothing."""
    model = _of([1.0] * 8, [0, 0, 1, 1, 2, 2, 3, 3], n_nodes=8)
    bounds = [batch_bound(model, PlanParams(budget=Budget(max_migrations=moves))) for moves in (3, 4)]
    assert bounds == pytest.approx([2.0, 1.0])


@pytest.mark.parametrize("name", ["max_cost_s", "max_state_bytes"])
def test_seconds_and_bytes_bind_as_moves_do(name: str) -> None:
    model = _of([1.0, 1.0, 3.0, 3.0], [0, 0, 1, 1], level=[0, 0, 1, 1])
    dear = dataclasses.replace(model, migration_cost_s=np.full(4, 2.0), state_bytes=np.full(4, 2.0))
    found = batch_bound(dear, PlanParams(budget=Budget(**{name: 2.5})))
    assert 4.9 < found <= 5.0 + 1e-9


def test_pinned_key_groups_keep_their_node_busy() -> None:
    model = _of([2.0, 2.0, 1.0, 1.0], [0, 0, 1, 1])
    pinned = dataclasses.replace(model, pinned=np.array([True, True, False, False]))
    assert batch_bound(pinned, PlanParams()) == pytest.approx(4.0)


def test_marked_nodes_may_keep_what_they_have_and_take_nothing() -> None:
    model = dataclasses.replace(
        _of([1.0, 1.0, 1.0, 3.0], [0, 0, 1, 2], n_nodes=3), marked=np.array([False, False, True])
    )
    assert batch_bound(model, PlanParams()) == pytest.approx(3.0)
    light = dataclasses.replace(model, batch=_shape([4.0, 4.0, 1.0, 1.0], 3))
    assert batch_bound(light, PlanParams()) == pytest.approx(4.5, abs=0.51)


def listed(model: LoadModel) -> list[tuple[FloatArray, float]]:
    """Length of the levels, and seconds of pause, at every placement that is allowed."""
    found = []
    for nodes in itertools.product(range(model.n_nodes), repeat=model.n_groups):
        node_of = np.array(nodes)
        moved = node_of != model.node_of
        if not (model.pinned | model.marked[node_of])[moved].any():
            ends = levels_s(model.batch, node_of, model.batch.task_s)
            found.append((ends.max(axis=1, initial=0.0), float(model.migration_cost_s[moved].sum())))
    return found


@pytest.mark.parametrize("toll", [0.02, 0.3, 2.0])
def test_no_placement_and_its_price_are_below_their_bound(toll: float) -> None:
    """Where a node has nothing a move to it has no price: these instances are left out."""
    tight = every = 0
    for seed in range(240):
        model, _ = tiny(seed)
        if empty_nodes(model).any():
            continue
        problem, shape = compile_problem(model, PlanParams()), model.batch
        floors = np.array([floor_s(problem, shape, level) for level in range(shape.n_levels)])
        found = least_together(problem, shape, floors, toll)
        best = min(float(levels.sum()) + toll * pause_s for levels, pause_s in listed(model))
        assert floors.sum() * (1 - 1e-8) <= found <= best + 1e-9, f"seed {seed}: bound {found}, reached {best}"
        every += 1
        tight += found >= 0.97 * best
    assert every > 60
    assert tight > every / 2


def test_no_placement_costs_less_than_its_levels_need() -> None:
    for seed in range(0, 240, 5):
        model, _ = tiny(seed)
        problem, shape = compile_problem(model, PlanParams()), model.batch
        assert all(prices_of(problem, shape, levels, 0.5) <= 0.5 * pause_s + 1e-9 for levels, pause_s in listed(model))


def test_a_batch_is_as_long_as_its_moves_are_dear() -> None:
    """Of four tasks of 1 s two have to leave to halve the batch; each pause is 1 s."""
    model = dataclasses.replace(_of([1.0] * 5, [0, 0, 0, 0, 1]), migration_cost_s=np.ones(5))
    problem, shape = compile_problem(model, PlanParams()), model.batch
    found = [least_together(problem, shape, np.array([2.5]), toll) for toll in (0.0, 0.5, 2.0)]
    assert found == pytest.approx([2.5, 3.25, 4.0], rel=1e-4)
    assert prices_of(problem, shape, np.array([2.5]), 0.5) == pytest.approx(0.75)


def test_a_model_without_a_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="batch"):
        batch_bound(dataclasses.replace(_of([1.0], [0]), batch=None), PlanParams())


def _shape(task_s: list[float], n_nodes: int, level: list[int] | None = None) -> BatchShape:
    n = len(task_s)
    return BatchShape(
        level=np.array(level or [0] * n),
        task_s=np.array(task_s),
        spread_s=np.zeros(n),
        slots=np.ones(n_nodes, dtype=np.int64),
        speed=np.ones(n_nodes),
    )


def _of(task_s: list[float], node_of: list[int], *, n_nodes: int = 2, level: list[int] | None = None) -> LoadModel:
    shape = _shape(task_s, n_nodes, level)
    model = chain(np.random.default_rng(0), len(task_s), n_nodes, 1)
    return dataclasses.replace(model, batch=shape, node_of=np.array(node_of))
