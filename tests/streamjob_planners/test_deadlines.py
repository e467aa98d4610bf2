"""Time that is kept back, and threads that are late: with clocks that stand still or that jump."""

from __future__ import annotations

from concurrent.futures import Future

import numpy as np
import pytest

from streamjob_planners import side_by_side
from streamjob_planners.engine import Engine, Limits, Reserve
from streamjob_planners.goals import Distance
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.search import SearchPlanner


def test_the_longest_wait_is_kept_back_up_to_a_limit():
    reserve = Reserve(lambda: 0.25, most_s=2.0)
    limits = Limits(lambda: 0.0, 10.0, None, reserve)
    left = []
    for between_s in (0.5, 0.125, 8.0):
        reserve.note(between_s)
        left.append(limits.left_s())
    assert left == [9.25, 9.25, 7.75]


def test_shares_keep_back_as_much_and_halves_only_the_time_to_finish():
    reserve = Reserve(lambda: 0.25, most_s=2.0)
    limits = Limits(lambda: 0.0, 10.25, None, reserve)
    reserve.note(1.0)
    assert [part.left_s() for part in (limits.share(0.5), *limits.halves())] == pytest.approx([4.5, 10.0, 10.0])


def test_steps_of_a_lent_share_are_taken_from_what_it_was_lent_from():
    limits = Limits(lambda: 2.0, 10.0, 100)
    with limits.lent(0.25) as part:
        assert (part.steps_left, part.left_s()) == (25.0, 2.0)
        part.steps_left -= 7
        assert limits.steps_left == 100.0
    assert limits.steps_left == 93.0


def test_steps_beyond_a_lent_share_are_taken_too():
    limits = Limits(lambda: 0.0, 10.0, 100)
    with limits.lent(0.25) as part, part.lent(0.2) as inner:
        inner.steps_left -= 30
    assert (part.steps_left, limits.steps_left) == (-5.0, 70.0)


def test_steps_of_a_share_that_ends_with_an_error_are_taken():
    def failing() -> None:
        with limits.lent(0.5) as part:
            part.steps_left -= 1
            raise ValueError("bad")

    limits = Limits(lambda: 0.0, 10.0, 100)
    with pytest.raises(ValueError, match="bad"):
        failing()
    assert limits.steps_left == 99.0


def test_what_is_lent_without_a_number_of_steps_has_none_either():
    limits = Limits(lambda: 0.0, 10.0, None)
    with limits.lent(0.25, left_s=8.0) as part:
        assert (part.steps_left, part.deadline) == (np.inf, 4.0)
    assert limits.steps_left == np.inf


def test_a_thread_that_is_late_is_not_waited_for():
    assert side_by_side._in_time([Future()], Limits(lambda: 2.0, 1.0, None)) == []


def test_a_thread_is_waited_for_while_the_clock_allows_it():
    done: Future[side_by_side.Found] = Future()
    done.set_result((1.0, np.zeros(1, dtype=np.int64)))
    assert side_by_side._in_time([done], Limits(lambda: 2.0, 1.0, None)) == [done.result()]
    looks = iter([0.0, 0.0, 0.0, 2.0, 2.0, 2.0])
    assert side_by_side._in_time([Future(), done], Limits(lambda: next(looks), 1e-3, None)) == [done.result()]


def test_the_search_notes_how_long_its_steps_take(small_model):
    model = small_model([0] * 10, [5.0] * 10, n_nodes=2)
    problem = compile_problem(model, PlanParams(budget=Budget(max_migrations=3)))
    times = iter(range(1000))
    reserve = Reserve(most_s=100.0)
    engine = Engine(problem, 1)
    engine.set_bands(*Distance(problem).bands(0.0))
    engine.run(Limits(lambda: float(next(times)), 500.0, 10, reserve), 10, 0.0, drain=0.0, price=0.0)
    assert reserve.seconds() == 1.0


def test_workers_that_were_left_are_replaced(small_model):
    engine = Engine(compile_problem(small_model([0], [1.0], n_nodes=2), PlanParams()), 1)
    before = engine.workers
    assert engine.workers is before
    engine.leave_workers()
    assert not set(before) & set(engine.workers)


def test_the_engine_of_another_thread_is_made_by_whom_asks_first(small_model):
    engine = Engine(compile_problem(small_model([0], [1.0], n_nodes=2), PlanParams()), 1)
    first, second = engine.workers
    assert not first.made
    assert first.engine is first.engine
    assert first.made
    assert not second.made


def test_a_first_plan_that_is_good_enough_needs_no_other_thread(small_model, monkeypatch):
    made = []
    monkeypatch.setattr("streamjob_planners.engine.Worker.engine", property(made.append))
    model = small_model([0] * 10, [5.0] * 10, n_nodes=2)
    plan = SearchPlanner().solve(model, PlanParams(tolerance=0.0), np.random.default_rng(0), lambda: 0.0)
    assert plan.after.load_distance == 0.0
    assert made == []
