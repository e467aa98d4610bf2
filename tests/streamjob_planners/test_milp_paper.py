"""The integer program as printed, clause by clause, against trying every placement."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from streamjob_planners import cpsat, milp_distance, milp_paper, registry
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.hold import HoldPlanner
from streamjob_planners.milp_distance import DistanceRun
from streamjob_planners.milp_settings import PUBLISHED, MilpSettings
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.verify import verify

EXACT = PlanParams(tolerance=0.0, deadline_s=120.0, max_iterations=20_000)
CLAUSES = {
    "ceiled mean": MilpSettings(ceiled_mean=True, drains=False),
    "constraint (5)": MilpSettings(within_mean=True, drains=False),
    "as published": PUBLISHED,
}


def _solve(model, budget, planner):
    params = dataclasses.replace(EXACT, budget=budget)
    plan = planner.solve(model, params, np.random.default_rng(1), lambda: 0.0)
    assert verify(model, plan, params) == ()
    return plan


def _d_and_rest(model, node_of, settings):
    """The least d that constraints (3) and (4) allow a placement, then (d - du) + (d - dl)."""
    load = [math.fsum(model.load[[g for g in range(model.n_groups) if node_of[g] == n]]) for n in range(model.n_nodes)]
    use = [one / float(model.capacity[n]) for n, one in enumerate(load)]
    open_nodes = [n for n in range(model.n_nodes) if not model.marked[n]]
    mean = math.fsum(model.load) / math.fsum(model.capacity[open_nodes])
    mean = math.ceil(mean) if settings.ceiled_mean else mean
    above, below = max(use) - mean, mean - min(use[n] for n in open_nodes)
    above = above if settings.ceiled_mean else max(above, 0.0)
    return max(above, below), above + below, mean


def _least(model, most_moves, settings):
    """The least (d, rest) of all placements; None where constraint (5) holds for none."""
    kept = []
    choices = [{int(model.node_of[g]), *np.flatnonzero(~model.marked).tolist()} for g in range(model.n_groups)]
    for node_of in itertools.product(*choices):
        if sum(a != b for a, b in zip(node_of, model.node_of, strict=True)) > most_moves:
            continue
        d, rest, mean = _d_and_rest(model, node_of, settings)
        if not settings.within_mean or d <= mean + 1e-9:
            kept.append((d, rest))
    return min(kept, default=None)


def _drawn(small_model, seed):
    rng = np.random.default_rng(seed)
    n_nodes, n_groups = int(rng.integers(2, 4)), int(rng.integers(3, 7))
    model = small_model(
        rng.integers(0, n_nodes, n_groups).tolist(), (100 * rng.dirichlet(np.ones(n_groups))).tolist(), n_nodes=n_nodes
    )
    return dataclasses.replace(
        model,
        capacity=rng.choice([0.5, 1.0, 2.0], n_nodes) if seed % 3 == 0 else model.capacity,
        marked=(np.arange(n_nodes) == 0) & (seed % 2 == 0),
    ), int(rng.integers(0, 4))


@pytest.mark.parametrize("clause", sorted(CLAUSES))
def test_the_program_finds_what_trying_every_placement_finds(small_model, clause):
    settings, infeasible = CLAUSES[clause], 0
    for seed in range(40):
        model, most_moves = _drawn(small_model, seed)
        least = _least(model, most_moves, settings)
        problem = compile_problem(model, dataclasses.replace(EXACT, budget=Budget(max_migrations=most_moves)))
        run = DistanceRun(problem, settings, model.node_of, seed, lambda: 0.0, 0.0)
        node_of = run.best()
        if least is None:
            infeasible += 1
            assert (run.notes, node_of.tolist()) == ((milp_distance.NOT_WITHIN,), model.node_of.tolist())
            continue
        d, rest, _ = _d_and_rest(model, node_of, settings)
        assert d == pytest.approx(least[0], abs=1e-4), seed
        assert rest <= least[1] + 0.001 * most_moves + 1e-4, seed
    assert (infeasible > 0) == settings.within_mean


def test_an_executor_above_twice_the_mean_that_the_budget_cannot_relieve_holds_everything(small_model):
    """Five times 12 on one of three nodes: 48 or more stay after one move, and constraint (5) allows 40."""
    model = small_model([0, 0, 0, 0, 0], [12.0] * 5, n_nodes=3)
    plan = _solve(model, Budget(max_migrations=1), registry.get("milp-paper"))
    assert (plan.moves, plan.notes) == ((), (milp_distance.NOT_WITHIN,))
    assert len(_solve(model, Budget(max_migrations=1), registry.get("milp")).moves) == 1
    assert len(_solve(model, Budget(max_migrations=3), registry.get("milp-paper")).moves) == 3


def test_a_light_key_group_on_a_marked_node_is_drained_by_ours_and_left_by_the_published_program(small_model):
    """Lemma 2 is for loads that can be split: 10, 10 and a marked 0.6 that makes one of two nodes uneven."""
    model = small_model([0, 1, 2], [10.0, 10.0, 0.6], n_nodes=3)
    model = dataclasses.replace(model, marked=np.array([False, False, True]))
    assert _solve(model, Budget(), milp_paper.MilpPaperPlanner(hint=HoldPlanner())).moves == ()
    assert len(_solve(model, Budget(), registry.get("milp")).moves) == 1


def test_what_is_given_without_a_solution_in_time_has_the_load_distance_for_its_goal_too(small_model, monkeypatch):
    """It was the hint's plan for the time of a batch: here each node has one of two levels, and d is 0 already."""
    shape = BatchShape(
        level=np.array([0, 0, 1, 1]),
        task_s=np.ones(4),
        spread_s=np.zeros(4),
        slots=np.ones(2, dtype=np.int64),
        speed=np.ones(2),
    )
    model = dataclasses.replace(small_model([0, 0, 1, 1], [10.0] * 4, n_nodes=2), batch=shape)
    monkeypatch.setattr(cpsat, "run", lambda *_, **__: None)
    plan = _solve(model, Budget(), registry.get("milp-paper"))
    assert (plan.moves, plan.notes) == ((), (milp_distance.NOTHING_FOUND,))
    assert len(_solve(model, Budget(), registry.get("milp")).moves) == 2
