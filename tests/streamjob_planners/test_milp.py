"""The integer program: proofs, features, and what happens when it is too large or too slow."""

from __future__ import annotations

import dataclasses
import threading
import time

import numpy as np
import pytest

from streamjob_planners import cpsat, milp, milp_distance, milp_model, milp_run, registry
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.hold import HoldPlanner
from streamjob_planners.milp_settings import PUBLISHED
from streamjob_planners.model import Budget, Objective, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.verify import verify


def _solve(planner, model, **params):
    params = PlanParams(**{"deadline_s": 10.0, "tolerance": 0.0, **params})
    plan = planner.solve(model, params, np.random.default_rng(1), time.monotonic)
    assert verify(model, plan, params) == ()
    return plan


def _one_level(task_s, n_nodes):
    """Tasks of one stage, on nodes of one slot."""
    return BatchShape(
        level=np.zeros(len(task_s), dtype=np.int64),
        task_s=np.array(task_s),
        spread_s=np.zeros(len(task_s)),
        slots=np.ones(n_nodes, dtype=np.int64),
        speed=np.ones(n_nodes),
    )


def test_an_optimum_above_zero_is_proved(small_model):
    model = small_model([0, 0, 0, 1], [10.0, 8.0, 5.0, 1.0], n_nodes=2)
    plan = _solve(milp.MilpPlanner(hint=HoldPlanner()), model)
    assert plan.proven_optimal
    assert plan.after.load_distance == pytest.approx(1.0)


def test_no_optimum_is_cut_off_where_one_constraint_includes_another(small_model):
    """Presolve of OR-tools 9.15 called 23.057 points optimal here; 23.020 can be reached."""
    nodes = [2, 3, 2, 3, 3, 0, 3, 2, 2, 0, 3, 1, 2, 1, 0, 0, 1, 1, 0, 3]
    loads = [1.01858363, 1.51334508, 1.41786291, 1.16145202, 1.7982337, 1.52399917, 1.49258128, 1.66485083, 1.66394571]
    loads += [1.90289375, 1.83429474, 1.76297762, 1.85268381, 1.73369731, 1.92992927, 1.65674163, 1.42941944]
    loads += [1.41317704, 1.59630402, 90.0]
    model = dataclasses.replace(
        small_model(nodes, loads, n_nodes=4),
        capacity=np.array([0.57323795, 1.95348054, 1.42708747, 1.07115365]),
        pinned=np.arange(20) == 11,
    )
    assert _solve(milp.MilpPlanner(hint=HoldPlanner()), model).after.load_distance == pytest.approx(23.0203, abs=1e-3)


def test_a_marked_node_that_cannot_be_emptied_does_not_hide_what_the_others_do(small_model):
    """Its utilisation is the program's distance whatever the others do: any of their placements is as good there."""
    model = dataclasses.replace(
        small_model([0, 0, 1], [1.0, 2.0, 2.0], n_nodes=3),
        capacity=np.array([278.0, 0.008, 6.8]),
        marked=np.array([False, True, False]),
        migration_cost_s=np.array([0.0, 0.0, 1e6]),
    )
    _solve(registry.get("milp"), model, budget=Budget(max_cost_s=0.0), max_iterations=2000)


def test_whole_microseconds_do_not_lift_the_bound_above_the_batch(small_model):
    """0.50830309 s at speed 1.5: the next whole microsecond is above what the task takes."""
    shape = dataclasses.replace(_one_level([0.50830309], n_nodes=1), speed=np.array([1.5]))
    model = dataclasses.replace(small_model([0], [5.0], n_nodes=1), batch=shape)
    plan = _solve(milp.MilpPlanner(hint=HoldPlanner()), model)
    assert 0.3388 < plan.batch_bound_s <= plan.after.batch_s


def test_moves_that_must_pay_at_once_are_none_that_the_program_cannot_count(small_model):
    """A move for a second, to be paid for within no batch: some 1e18 whole units each, which overflow added up."""
    batch = _one_level([1.0] * 12, n_nodes=3)
    model = small_model([0] * 6 + [1] * 4 + [2] * 2, [5.0] * 12, n_nodes=3, batch=batch, migration_cost_s=np.ones(12))
    assert _solve(registry.get("milp"), model, payback_batches=0.0, max_iterations=2000).moves == ()
    drained = dataclasses.replace(model, marked=np.arange(3) > 0)
    plan = _solve(registry.get("milp"), drained, payback_batches=0.0, max_iterations=2000)
    assert plan.after.marked_groups == 0


def test_it_finds_its_way_from_a_poor_hint(one_to_one):
    model = one_to_one(4, 6, 2)
    piled_up = dataclasses.replace(model, node_of=np.zeros(model.n_groups, dtype=np.int64))
    plan = _solve(milp.MilpPlanner(hint=HoldPlanner()), piled_up, deadline_s=3.0)
    assert plan.after.load_distance < 0.1 * plan.before.load_distance


def test_a_model_too_large_gets_the_hints_plan_and_says_so(small_model, monkeypatch):
    monkeypatch.setattr(milp, "MAX_PAIRS", 3)
    model = small_model([0, 0, 0, 0], [5.0, 5.0, 5.0, 5.0], n_nodes=2)
    plan = _solve(registry.get("milp"), model)
    assert plan.after.load_distance == 0.0
    assert any("too large" in note for note in plan.notes)


def test_a_solver_that_does_not_stop_is_left_behind(small_model, monkeypatch):
    model = small_model([0, 0], [5.0, 5.0], n_nodes=2)
    problem = compile_problem(model, PlanParams())
    released = threading.Event()
    monkeypatch.setattr(cpsat, "_solve", lambda *_: released.wait(30))
    try:
        assert cpsat.run(milp_model.build(problem, model.node_of), seed=1, seconds=0.1, max_iterations=None) is None
    finally:
        released.set()


def test_a_failure_of_the_solver_is_not_swallowed(small_model, monkeypatch):
    model = small_model([0, 0], [5.0, 5.0], n_nodes=2)
    program = milp_model.build(compile_problem(model, PlanParams()), model.node_of)

    def fail(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(cpsat.cp_model.CpSolver, "solve", fail)
    with pytest.raises(MemoryError, match="no room"):
        cpsat.run(program, seed=1, seconds=1.0, max_iterations=None)


def test_a_solver_that_is_left_behind_reads_no_model_that_goes_on_changing(small_model, monkeypatch):
    """It did, and OR-tools aborted the process: the second step adds to the program while the first may still run."""
    model = small_model([0, 0, 0, 1], [10.0, 8.0, 5.0, 1.0], n_nodes=2)
    program = milp_model.build(compile_problem(model, PlanParams()), model.node_of)
    given, released = [], threading.Event()
    monkeypatch.setattr(cpsat, "_solve", lambda _, read, *__: (given.append(read), released.wait(30)))
    try:
        assert cpsat.run(program, seed=1, seconds=0.1, max_iterations=None) is None
        (read,) = given
        before = str(read)
        program.model.add(program.moves[0][0][1] == 1)
        assert str(read) == before != str(program.model)
    finally:
        released.set()


def test_a_run_limited_by_iterations_does_not_creep_from_solution_to_solution(small_model, monkeypatch):
    """It gave thousands, each a millionth of a point better, and went on to the deadline: none counted as a step."""
    model = small_model([1, 0, 0], [5.45886432, 48.13929994, 46.40183575], n_nodes=2)
    model = dataclasses.replace(model, capacity=np.array([0.5, 0.5]), marked=np.array([True, False]))
    problem = compile_problem(model, PlanParams(tolerance=0.0, budget=Budget(max_migrations=1)))
    problem = dataclasses.replace(problem, mean=float(np.ceil(problem.mean)))
    program = milp_model.build(problem, model.node_of, PUBLISHED)
    given, keep = [], cpsat._Keeper.on_solution_callback
    monkeypatch.setattr(cpsat._Keeper, "on_solution_callback", lambda one: (given.append(one), keep(one)))
    assert cpsat.run(program, seed=30, seconds=5.0, max_iterations=20_000) is not None
    assert 0 < len(given) < 100


@pytest.mark.parametrize("objective", list(Objective))
def test_the_hint_is_the_plan_where_rounding_leaves_the_program_without_a_solution(small_model, monkeypatch, objective):
    shape = _one_level([1.0] * 4, n_nodes=2)
    model = dataclasses.replace(small_model([0, 0, 0, 0], [10.0] * 4, n_nodes=2), batch=shape)

    def refuse(*_, **__):
        raise cpsat.Infeasible

    monkeypatch.setattr(cpsat, "run", refuse)
    assert len(_solve(registry.get("milp"), model, objective=objective).moves) == 2


def test_unequal_capacities_leave_room_for_a_hint_that_is_above_the_mean(small_model):
    """Capacities are rounded to thousandths: the program called every placement too far, and today's was the plan."""
    model = small_model([0, 2], [4.46326279, 0.40221494], n_nodes=3)
    model = dataclasses.replace(model, capacity=np.array([1.50566861, 0.67261907, 1.84446406]))
    plan = _solve(registry.get("milp"), model, max_iterations=20_000)
    assert plan.after.load_distance == pytest.approx(1.2103256)
    assert plan.notes[0] != milp_distance.NOTHING_FOUND


def test_draining_moves_nothing_that_need_not_move(small_model):
    """Two key groups of 10 changed places beside the one that had to go: only the first goal had a price for moves."""
    model = small_model([0, 1, 2], [10.0, 10.0, 0.6], n_nodes=3)
    model = dataclasses.replace(model, marked=np.array([False, False, True]))
    plan = _solve(registry.get("milp"), model, max_iterations=20_000)
    assert (len(plan.moves), plan.after.marked_groups) == (1, 0)


def test_draining_does_not_polish_below_the_tolerance(small_model):
    """Nodes of 10.2 and 9.8, and 0.2 of a marked one: moves of 0.1 and 0.3 would make them even, for nothing."""
    loads = [10.0, 0.2, 9.7, 0.1, 0.2]
    model = small_model([0, 0, 1, 1, 2], loads, n_nodes=3)
    model = dataclasses.replace(model, marked=np.array([False, False, True]))
    plan = _solve(registry.get("milp"), model, max_iterations=20_000, tolerance=1.0)
    assert (len(plan.moves), plan.after.marked_groups) == (1, 0)


def test_budgets_of_cost_and_bytes_bind(small_model):
    model = small_model([0, 0, 0, 0], [5.0, 5.0, 5.0, 5.0], n_nodes=2)
    assert len(_solve(registry.get("milp"), model, budget=Budget(max_cost_s=1.5)).moves) == 1
    assert len(_solve(registry.get("milp"), model, budget=Budget(max_state_bytes=199.0)).moves) == 1
    assert _solve(registry.get("milp"), model, budget=Budget(max_state_bytes=0.0)).moves == ()


@pytest.mark.parametrize("budget", [Budget(max_migrations=3), Budget(max_cost_s=3.0), Budget(max_state_bytes=300.0)])
def test_a_budget_can_be_spent_to_the_last_move(small_model, budget):
    model = small_model([0] * 6, [5.0] * 6, n_nodes=2)
    plan = _solve(milp.MilpPlanner(hint=HoldPlanner()), model, budget=budget)
    assert (len(plan.moves), plan.after.load_distance) == (3, 0.0)


def test_placements_of_a_model_that_predicts_no_batches_are_not_told_apart_by_seconds(small_model):
    model = small_model([0, 0, 1], [3.0, 2.0, 1.0], n_nodes=2)
    shape = _one_level([3.0, 2.0, 1.0], n_nodes=2)
    params = PlanParams(deadline_s=10.0)
    guess = HoldPlanner().solve(model, params, np.random.default_rng(1), lambda: 0.0)
    run = milp_run.LevelRun(compile_problem(model, params), shape, guess, 1, lambda: 0.0, 0.0)
    with pytest.raises(ValueError, match="predicts no batches"):
        run.best()
