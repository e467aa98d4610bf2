"""The plain surge with the default planner and rule: the backlog is gone in time, for few executors."""

from __future__ import annotations

import pytest
from benchmarks.looking import Looking
from benchmarks.surge import WORLD, outcome, with_steps

from streamjob_planners import registry
from streamjob_sim.reading import read_world
from streamjob_sim.simulate import job_of, simulate

STEPS = 100_000
"""Of each plan, so that its deadline decides nothing."""


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(1, 5))
def test_a_surge_is_worked_off_in_time_for_few_executors(seed: int) -> None:
    world = read_world(WORLD)
    score = simulate(world, with_steps(job_of(world), STEPS), registry.DEFAULT, seed, looking=Looking)
    found = outcome(world, score)
    assert score.violations == ()
    assert found.settled_s is not None
    assert found.settled_s <= world.policy.scaling.catch_up_s
    assert found.executor_h <= 1.15 * found.fewest_h
