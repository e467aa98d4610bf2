"""Plain surges with the default planner and rule: the backlog is gone in time, for few executors."""

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
@pytest.mark.timeout(2400)
def test_surges_are_worked_off_in_time_for_few_executors() -> None:
    world = read_world(WORLD)
    job, ratios = with_steps(job_of(world), STEPS), []
    for seed in range(1, 7):
        score = simulate(world, job, registry.DEFAULT, seed, looking=Looking)
        found = outcome(world, score)
        assert score.violations == ()
        assert found.settled_s is not None
        assert found.settled_s <= world.policy.scaling.catch_up_s
        ratios.append(found.executor_h / found.fewest_h)
    assert max(ratios) <= 1.15
