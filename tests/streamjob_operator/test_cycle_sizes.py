"""Executors of several sizes: what the agent tells of their slots is what key groups are shared out by."""

from __future__ import annotations

from collections import Counter

import pytest
from worlds import World, job, warm

from streamjob_operator.values import Reason

SCALING_OFF = ("scaling: {mode: Auto", "scaling: {mode: 'Off'")


@pytest.mark.parametrize("objective", ["batchTime", "loadDistance"])
def test_key_groups_are_shared_out_by_slots(objective: str) -> None:
    of = job(SCALING_OFF, ("planner: greedy", f"planner: greedy\n    objective: {objective}"))
    world = World(
        loads=[12.0] * 16,
        owners=["0", "1"] * 8,
        executors={"0": "ready", "1": "ready"},
        cores={"1": 3},
    )
    records = [warm(world, of).turn(of)] + [world.turn(of) for _ in range(3)]
    assert records[0].model is not None
    assert records[0].model.capacity.tolist() == pytest.approx([1.0 / 3.0, 1.0])
    assert records[0].model.batch is not None
    assert records[0].model.batch.slots.tolist() == [1, 3]
    assert Counter(world.owners) == {"0": 4, "1": 12}
    assert records[-1].verdict.reason is Reason.BALANCED


def test_the_larger_executors_have_the_larger_part_of_what_a_smaller_fleet_takes() -> None:
    """Executor 1, the cheapest to empty, is drained; what it held goes by slots, not by halves."""
    world = World(
        loads=[4.0] * 16,
        owners=["0"] * 4 + ["1"] * 2 + ["2"] * 10,
        executors=dict.fromkeys("012", "ready"),
        cores={"0": 1, "1": 1, "2": 3},
    )
    of = job(("executors: {min: 1, max: 6}", "executors: {min: 2, max: 6, replicas: 2}"))
    warm(world, of)
    for _ in range(8):
        world.turn(of)
    assert set(world.executors) == {"0", "2"}
    assert Counter(world.owners) == {"0": 4, "2": 12}
