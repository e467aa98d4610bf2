"""Boards: each thread goes on from what either has found, and leaves a try that the other one beats."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners import balance
from streamjob_planners.board import Board
from streamjob_planners.closing import closed
from streamjob_planners.crossings import Crossings
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.relaying import relayed
from streamjob_planners.tightening import closer, tightened

FAR, NEAR = 10.0, 4.0
HERE, THERE = np.array([0, 1]), np.array([1, 0])


class Told(Distance):
    """Distances by the first group's node, so that a test says which placement is better."""

    def reached(self, node_of):
        return FAR if node_of[0] == HERE[0] else NEAR

    def set_closer(self, engine, best, part):
        pass


@pytest.fixture
def engine(small_model):
    model = small_model([0, 1], [1.0, 2.0], n_nodes=2)
    return Engine(compile_problem(model, PlanParams(budget=Budget(max_migrations=2), tolerance=0.0)), 1)


def _limits(steps=None, now_s=0.0):
    return Limits(lambda: now_s, 1.0, steps)


def test_only_what_is_better_is_kept():
    board = Board(FAR, HERE)
    board.tell(NEAR, THERE)
    board.tell(FAR - 1.0, HERE)
    assert board.best() == (NEAR, THERE)
    assert board.beats(NEAR)
    assert not board.beats(NEAR - 1e-9)


def test_each_try_begins_with_the_best_of_both(engine):
    board, begun = Board(FAR, HERE), []

    def make(best, reached, part, _):
        begun.append((best[0], reached))
        engine.load(best)
        board.tell(NEAR, THERE)
        return best, False

    found = closer(engine, _limits(), Told(engine.problem), HERE, (0.5, 0.7), make, nothing=0.0, board=board)
    assert begun == [(0, FAR), (1, NEAR)]
    assert np.array_equal(found, THERE)


def test_what_a_try_finds_is_told(engine):
    board = Board(FAR, HERE)

    def make(best, reached, part, _):
        engine.load(THERE)
        return best, True

    limits = Limits(iter(np.linspace(0.0, 1.0, 4)).__next__, 1.0, None)
    closer(engine, limits, Told(engine.problem), HERE, (0.5, 0.7), make, nothing=0.0, board=board)
    assert board.best()[0] == NEAR


@pytest.mark.parametrize(("reached", "parts"), [(0.5 * FAR, [0.5, 0.5]), (0.5 * FAR + 1e-6, [0.5, 0.75])])
def test_bands_get_no_wider_for_a_try_that_the_other_thread_beats(engine, reached, parts):
    """The second one of these found something better than the begin, but not what was tried."""
    board, tried = Board(FAR, HERE), []

    def make(best, _, part, __):
        tried.append(part)
        engine.load(HERE)
        board.tell(reached, HERE)
        return best, False

    closer(engine, _limits(), Told(engine.problem), HERE, (0.5, 0.8), make, nothing=0.0, board=board)
    assert tried[:2] == parts


def test_where_nothing_is_left_to_win_the_tries_end(engine):
    """Nobody can beat a distance of 0."""

    class Level(Told):
        def reached(self, node_of):
            return 0.0

    def make(best, reached, part, _):
        return best, True

    found = closer(
        engine, _limits(), Level(engine.problem), HERE, (0.5, 0.7), make, nothing=0.0, board=Board(0.0, HERE)
    )
    assert np.array_equal(found, HERE)


@pytest.mark.parametrize("way", [relayed, closed])
def test_a_try_that_the_other_thread_beats_ends_at_its_next_look(problem_of, priced, monkeypatch, way):
    """The other thread is said to be ahead while walks go on, for as long as there has been one look."""
    problem = problem_of() if way is relayed else priced
    engine, limits, aim = Engine(problem, 1), _limits(), Distance(problem)
    engine.sort_groups(limits)
    before = tightened(engine, _limits(100_000), aim, problem.model.node_of)

    class Ahead(Board):
        looks = 0

        def beats(self, reached):
            self.looks += 1
            return True

    board = Ahead(aim.reached(before), before)
    limits = Limits(lambda: 1.0 if board.looks > 100 else 0.0, 1.0, None)
    found = way(engine, limits, aim, before, board)
    assert board.looks > 100
    assert aim.reached(found) > 0.95 * aim.reached(before)


def test_threads_share_a_board_unless_steps_are_limited_or_nodes_are_few(problem_of, monkeypatch):
    problem, boards, asked = problem_of(), [], []
    fewest = problem.model.n_nodes
    engine, aim = Engine(problem, 1), Distance(problem)
    engine.sort_groups(_limits())

    def relays(worker, part, best, board):
        boards.append(board)
        return best

    goal = balance.Goal(
        aim=aim, floor=0.0, crossings=Crossings(problem), exact=relays, relays=relays, exact_soon=True, patience=1
    )
    for steps, nodes in ((None, fewest), (100_000, fewest), (None, fewest + 1)):
        monkeypatch.setattr(balance, "FEWEST_SHARING", nodes)
        balance.descend(engine, _limits(steps), problem.model.node_of, goal, balance.Schedule(exact=1.0, relays=1.0))
        asked.append(boards.copy())
        boards.clear()
    assert isinstance(asked[0][0], Board)
    assert asked[0][0] is asked[0][1]
    assert set(asked[1]) == {None}
    assert set(asked[2]) == {None}


def test_what_a_late_thread_has_told_counts(problem_of, monkeypatch):
    """Both threads tell of a better placement, and give back another one."""
    problem = problem_of()
    monkeypatch.setattr(balance, "FEWEST_SHARING", problem.model.n_nodes)
    engine, aim = Engine(problem, 1), Distance(problem)
    engine.sort_groups(_limits())
    start = problem.model.node_of
    better = tightened(engine, _limits(100_000), aim, start)

    def relays(worker, part, best, board):
        board.tell(aim.reached(better), better)
        return start

    goal = balance.Goal(
        aim=aim, floor=0.0, crossings=Crossings(problem), exact=relays, relays=relays, exact_soon=True, patience=1
    )
    found = balance.descend(engine, _limits(), start, goal, balance.Schedule(relays=1.0))
    assert np.array_equal(found, better)
