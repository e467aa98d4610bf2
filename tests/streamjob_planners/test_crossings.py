"""How many groups leave and arrive: what is drawn, and what a pass of the search makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.crossings import MOST_GROUPS, Crossings
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.kernel.state import CAME, LEFT
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.problem import compile_problem


@pytest.fixture
def problem(small_model):
    """Node 0 has 100 points in groups of 10, node 1 has 50, node 2 nothing: exactly five must go from 0 to 2."""
    model = small_model([0] * 10 + [1] * 5, [10.0] * 15, n_nodes=3)

    def compiled(moves: int):
        return compile_problem(model, PlanParams(budget=Budget(max_migrations=moves), tolerance=0.0))

    return compiled


def prepared(task, low: float, high: float) -> Crossings:
    crossings = Crossings(task)
    crossings.prepare(low, high)
    return crossings


def test_counts_are_those_that_the_nodes_need(problem):
    distance, most = prepared(problem(5), 1.0, 4.0).draw(1.0, 4.0, np.random.default_rng(0))
    assert 1.0 <= distance < 4.0
    assert most.tolist() == [[5, 0, 0], [0, 0, 5]]


def test_nodes_within_their_band_share_what_is_left_of_the_moves(problem):
    _, most = prepared(problem(7), 1.0, 4.0).draw(1.0, 4.0, np.random.default_rng(0))
    assert most.tolist() == [[5, 2, 0], [0, 2, 5]]


def test_too_few_moves_give_no_counts_until_the_distance_is_large_enough(problem):
    assert prepared(problem(4), 1.0, 4.0).draw(1.0, 4.0, np.random.default_rng(0)) is None
    distance, most = prepared(problem(4), 1.0, 30.0).draw(1.0, 30.0, np.random.default_rng(0))
    assert 10.0 <= distance < 11.0
    assert most.max(axis=1).tolist() == [4, 4]


def test_larger_distances_follow_one_by_one_and_are_drawn_once_they_are_added(problem):
    crossings = prepared(problem(4), 1.0, 14.0)
    first, _ = crossings.draw(1.0, 14.0, np.random.default_rng(0))
    further = []
    while (found := crossings.further(14.0)) is not None:
        further.append(found.distance)
        assert crossings.draw(13.9, 14.0, np.random.default_rng(0))[0] < further[-1]
        crossings.add(found)
    assert further == pytest.approx([first * 1.1, first * 1.1**2])
    assert crossings.draw(13.9, 14.0, np.random.default_rng(0))[0] == further[-1]
    assert crossings.draw(1.0, 12.0, np.random.default_rng(0))[0] < 12.0
    assert crossings.draw(1.0, 10.0, np.random.default_rng(0)) is None


def test_a_distance_far_from_what_counts_allow_is_told(problem):
    crossings = prepared(problem(4), 1.0, 30.0)  # they allow 10.8; the mean group has 10 points
    assert [crossings.allow_less(distance) for distance in (10.0, 11.5, 12.0)] == [False, False, True]
    assert not Crossings(problem(4)).allow_less(12.0)


def test_without_load_or_with_too_many_groups_counts_decide_nothing(small_model):
    for groups, load in ((10, 0.0), (MOST_GROUPS + 1, 1.0)):
        model = small_model([0] * groups, [load] * groups, n_nodes=2)
        crossings = prepared(compile_problem(model, PlanParams(budget=Budget(max_migrations=3))), 0.0, 50.0)
        assert crossings.draw(0.0, 50.0, np.random.default_rng(0)) is None
        assert crossings.further(50.0) is None


def test_what_one_generator_draws_does_not_depend_on_others(problem):
    alone, shared = prepared(problem(7), 0.5, 30.0), prepared(problem(7), 0.5, 30.0)
    shared.draw(1.0, 4.0, np.random.default_rng(9))
    one, other = (some.draw(0.5, 30.0, np.random.default_rng(3)) for some in (alone, shared))
    assert one[0] == other[0]
    assert np.array_equal(one[1], other[1])


def test_a_pass_keeps_to_its_counts_and_the_next_one_is_free(problem):
    task = problem(8)
    engine, home = Engine(task, 1), task.model.node_of
    most = np.array([[3, 0, 0], [0, 1, 2]])
    for allowed, arriving in ((most, [0, 1, 2]), (None, None)):
        engine.load(home, allowed)
        engine.set_bands(*Distance(task).bands(0.5))
        engine.run(Limits(lambda: 0.0, 1.0, 5000), 5000, 1.0, drain=0.0, price=0.0)
        away = engine.placement() != home
        counts = np.bincount(engine.placement()[away], minlength=3)
        assert counts.tolist() == engine.state.crossed[CAME].tolist()
        assert engine.state.crossed[LEFT].sum() == away.sum()
        if arriving is None:
            assert away.sum() >= 5
        else:
            assert away.sum() <= 3
            assert (counts <= arriving).all()


def test_nothing_is_found_once_time_is_over(problem):
    crossings = Crossings(problem(5))
    crossings.prepare(1.0, 4.0, lambda: True)
    assert crossings.draw(1.0, 4.0, np.random.default_rng(0)) is None
