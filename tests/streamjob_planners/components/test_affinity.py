"""Partition i of every operator of a component is one unit, and any planner keeps units together."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners import registry
from streamjob_planners.components.affinity import affinity_units, gathered
from streamjob_planners.model import Budget, GroupId, LoadModel, PlanParams
from streamjob_planners.units import contracted


def ids(widths: dict[int, int]) -> tuple[GroupId, ...]:
    return tuple(GroupId(operator=o, partition=p) for o, width in widths.items() for p in range(width))


def test_partition_i_of_every_operator_of_a_component_is_one_unit() -> None:
    units = affinity_units(ids({0: 3, 4: 3, 7: 2}), [{0, 4}])
    assert units.tolist() == [0, 1, 2, 0, 1, 2, 3, 4]


def test_unequal_partitions_are_refused_with_their_numbers() -> None:
    with pytest.raises(ValueError, match="operator 0 has 3, operator 4 has 2"):
        affinity_units(ids({0: 3, 4: 2}), [{0, 4}])
    with pytest.raises(ValueError, match="operator 0 is in two"):
        affinity_units(ids({0: 3}), [{0}, {0}])


def test_gathering_brings_a_unit_to_where_most_of_it_is() -> None:
    units = affinity_units(ids({0: 2, 1: 2, 2: 2}), [{0, 1, 2}])
    assert gathered(units, np.array([0, 1, 1, 0, 1, 1])).tolist() == [1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("name", ["search", "milp", "greedy", "flux"])
def test_a_plan_for_units_moves_their_key_groups_as_one(name) -> None:
    rng = np.random.default_rng(3)
    group_ids = ids({0: 12, 1: 12, 2: 5})
    n = len(group_ids)
    units = affinity_units(group_ids, [{0, 1}])
    node_of = gathered(units, np.concatenate([np.zeros(24, dtype=np.int64), np.ones(5, dtype=np.int64)]))
    model = LoadModel(
        node_ids=("1", "2", "3"),
        capacity=np.ones(3),
        marked=np.zeros(3, dtype=bool),
        group_ids=group_ids,
        node_of=node_of,
        load=rng.uniform(1.0, 5.0, n),
        migration_cost_s=np.ones(n),
        state_bytes=np.ones(n),
        pinned=np.zeros(n, dtype=bool),
    )
    small = contracted(model, units, model.migration_cost_s)
    params = PlanParams(budget=Budget(max_cost_s=8.0), deadline_s=2.0, max_iterations=2_000)
    plan = registry.get(name).solve(small, params, np.random.default_rng(0), lambda: 0.0)
    after = plan.node_of[units]
    assert plan.after.load_distance < plan.before.load_distance
    for unit in range(int(units.max()) + 1):
        assert len(set(after[units == unit].tolist())) == 1
    assert model.migration_cost_s[after != node_of].sum() <= 8.0, "a unit of two key groups costs both"
