"""Long passes: all nodes come closer together, within the budget, and the engine is as before."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners import drain
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.long_passes import long_pass
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.problem import compile_problem


@pytest.fixture
def problem(small_model):
    """Twelve nodes, heavy tails, a tenth of the groups may move."""
    rng = np.random.default_rng(3)
    load = rng.permutation(np.arange(1, 241) ** -0.5)
    model = small_model(rng.integers(0, 12, 240).tolist(), (600 * load / load.sum()).tolist(), n_nodes=12)
    return compile_problem(model, PlanParams(budget=Budget(max_migrations=24), tolerance=0.0))


def _passed(problem, seed=1, steps=100_000, now_s=0.0):
    engine, aim = Engine(problem, seed), Distance(problem)
    limits = Limits(lambda: now_s, 1.0, steps)
    engine.sort_groups(limits)
    aim.set_bands(engine, 0.01, problem.model.node_of)
    return engine, long_pass(engine, limits)


def test_nodes_come_together_within_the_budget(problem):
    engine, found = _passed(problem)
    before = drain.stretch(problem, problem.model.node_of)
    assert drain.stretch(problem, found) < 0.05 * before
    assert problem.affordable(found)
    assert np.array_equal(engine.placement(), found)


def test_the_same_steps_give_the_same_placement_whatever_the_clock_says(problem):
    assert np.array_equal(_passed(problem, now_s=0.0)[1], _passed(problem, now_s=0.9)[1])


def test_passes_after_it_count_distances_again(problem):
    engine, _ = _passed(problem)
    assert not engine.state.steep.any()


def test_a_placement_in_its_bands_is_left_alone(problem):
    engine, aim = Engine(problem, 1), Distance(problem)
    aim.set_bands(engine, 1000.0, problem.model.node_of)
    assert np.array_equal(long_pass(engine, Limits(lambda: 0.0, 1.0, 1000)), problem.model.node_of)


def test_without_time_nothing_moves(problem):
    assert np.array_equal(_passed(problem, now_s=1.0)[1], problem.model.node_of)
