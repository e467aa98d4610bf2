"""Every planner on worlds that it can balance: unequal nodes, several resources, pins, bars, all kinds of budget."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import facts
from streamjob_planners.model import Budget, GroupId, LoadModel, PlanParams, Resource
from streamjob_planners.verify import verify

N_NODES, N_GROUPS = 5, 40
PARAMS = PlanParams(budget=Budget(max_migrations=12), tolerance=0.0, deadline_s=0.5, max_iterations=5_000)


def _uneven(seed: int = 1) -> LoadModel:
    """The first two nodes hold too much, the last two too little; loads of all groups differ."""
    rng = np.random.default_rng(seed)
    load = rng.uniform(4.0, 6.0, N_GROUPS)
    node_of = np.repeat(np.arange(N_NODES), N_GROUPS // N_NODES)
    load[node_of < 2] *= 1.6
    load[node_of > 2] *= 0.5
    return LoadModel(
        node_ids=tuple(f"n{i}" for i in range(N_NODES)),
        capacity=np.ones(N_NODES),
        marked=np.zeros(N_NODES, dtype=np.bool_),
        group_ids=tuple(GroupId(operator=0, partition=k) for k in range(N_GROUPS)),
        node_of=node_of,
        load=load,
        migration_cost_s=rng.uniform(0.5, 1.5, N_GROUPS),
        state_bytes=rng.uniform(500.0, 1500.0, N_GROUPS),
        pinned=np.zeros(N_GROUPS, dtype=np.bool_),
        load_series=load * rng.uniform(0.5, 1.5, (8, N_GROUPS)),
    )


def _resources(names: tuple[str, ...]) -> tuple[Resource, ...]:
    use = np.random.default_rng(2).uniform(0.5, 1.5, (len(names), N_GROUPS))
    return tuple(
        Resource(name=name, use=row, limit=np.full(N_NODES, 1.4 * row.sum() / N_NODES))
        for name, row in zip(names, use, strict=True)
    )


VARIANTS = {
    "plain": {},
    "unequal nodes": {"capacity": np.array([1.0, 1.0, 1.0, 2.0, 1.5])},
    "one resource": {"resources": _resources(("memory",))},
    "three resources": {"resources": _resources(("memory", "disk", "network"))},
    "pinned": {"pinned": np.arange(N_GROUPS) % 4 == 0},
    "all of it": {
        "capacity": np.array([1.0, 1.0, 1.0, 2.0, 1.5]),
        "resources": _resources(("memory", "disk")),
        "pinned": np.arange(N_GROUPS) % 4 == 0,
    },
}


def _solve(planner, model, params, clock):
    return planner.solve(model, params, np.random.default_rng(5), clock)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_is_balanced_within_its_limits(planner, promises, stepping_clock, variant):
    promises("balances")
    model = dataclasses.replace(_uneven(), **VARIANTS[variant])
    plan = _solve(planner, model, PARAMS, stepping_clock(0.0))
    assert verify(model, plan, PARAMS) == ()
    assert facts.distance(model, plan.node_of) < 0.9 * facts.distance(model, model.node_of)


@pytest.mark.parametrize(
    "budget",
    [Budget(max_migrations=3), Budget(max_cost_s=4.0), Budget(max_state_bytes=4000.0), Budget()],
    ids=["moves", "seconds", "bytes", "none"],
)
def test_each_kind_of_budget_is_used_and_kept(planner, promises, stepping_clock, budget):
    promises("balances")
    model, params = _uneven(), dataclasses.replace(PARAMS, budget=budget)
    plan = _solve(planner, model, params, stepping_clock(0.0))
    assert verify(model, plan, params) == ()
    assert plan.moves
    assert facts.distance(model, plan.node_of) < facts.distance(model, model.node_of)


def test_nothing_may_move_so_nothing_does(planner, stepping_clock):
    model = dataclasses.replace(_uneven(), pinned=np.ones(N_GROUPS, dtype=np.bool_))
    plan = _solve(planner, model, PARAMS, stepping_clock(0.0))
    assert plan.moves == ()
    assert verify(model, plan, PARAMS) == ()


def test_numbering_nodes_and_groups_otherwise_gives_as_good_a_plan(planner, promises, stepping_clock):
    promises("order of inputs")
    model, rng = _uneven(), np.random.default_rng(11)
    groups, nodes = rng.permutation(N_GROUPS), rng.permutation(N_NODES)
    other = dataclasses.replace(
        model,
        node_of=np.argsort(nodes)[model.node_of[groups]],
        group_ids=tuple(model.group_ids[k] for k in groups),
        **{name: getattr(model, name)[groups] for name in ("load", "migration_cost_s", "state_bytes")},
        load_series=model.load_series[:, groups],
    )
    plans = [_solve(planner, one, PARAMS, stepping_clock(0.0)) for one in (model, other)]
    distances = [facts.distance(one, plan.node_of) for one, plan in zip((model, other), plans, strict=True)]
    assert distances[1] == pytest.approx(distances[0], abs=0.2)
