"""Relays: narrower bands with the moves there are, failed walks leave no trace, nothing comes to marked nodes."""

from __future__ import annotations

import numpy as np
import pytest
from pieces import affordable, drift, hop, kick, undo, walk, while_few_are_off

from streamjob_planners import balance, drain, relaying
from streamjob_planners.board import Board
from streamjob_planners.crossings import Crossings
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.kernel.relay import NONE, STUCK
from streamjob_planners.kernel.state import N_AWAY, N_OFF
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.relaying import relayed
from streamjob_planners.tightening import tightened

MOVES = 20
"""Of `problem_of`."""


def _relayed(problem, seed=1, steps=300_000, now_s=0.0):
    engine, limits, aim = Engine(problem, seed), Limits(lambda: now_s, 1.0, steps), Distance(problem)
    engine.sort_groups(limits)
    before = tightened(engine, limits, aim, problem.model.node_of)
    return before, relayed(engine, limits, aim, before)


def _off(engine):
    return int(np.flatnonzero(engine.state.off)[0])


def test_what_random_steps_leave_is_passed_on_within_the_moves(problem_of):
    problem = problem_of()
    before, found = _relayed(problem, seed=3)
    assert drain.stretch(problem, found) < 0.4 * drain.stretch(problem, before)
    assert np.count_nonzero(found != problem.model.node_of) <= MOVES


def test_the_same_steps_give_the_same_placement_whatever_the_clock_says(problem_of):
    problem = problem_of()
    assert np.array_equal(_relayed(problem)[1], _relayed(problem, now_s=0.9)[1])


def test_nothing_comes_to_a_marked_node(problem_of):
    problem = problem_of(moves=40, marked=np.arange(12) < 2)
    before, found = _relayed(problem)
    assert not np.array_equal(before, found)
    assert not (problem.model.marked[found] & (found != problem.model.node_of)).any()


def test_without_time_nothing_moves(problem_of):
    before, found = _relayed(problem_of(), now_s=1.0)
    assert np.array_equal(found, before)


def test_steps_are_counted_and_end_it(problem_of):
    problem = problem_of()
    engine, limits, aim = Engine(problem, 1), Limits(lambda: 0.0, 1.0, 100), Distance(problem)
    engine.sort_groups(limits)
    relayed(engine, limits, aim, problem.model.node_of)
    assert -20_000 < limits.steps_left <= 20


def test_a_hop_brings_its_node_into_its_band_and_leaves_the_rest_to_one_other(engine_at):
    engine = engine_at()
    node, loads, engine.relay.made[0] = _off(engine), engine.state.loads.copy(), 0
    other = hop(engine.fixed, engine.state, engine.relay, node)
    assert other != STUCK
    assert not engine.state.off[node]
    changed = set(np.flatnonzero(loads != engine.state.loads).tolist())
    assert node in changed
    assert len(changed) == 2
    assert other == NONE or other in changed
    assert other == NONE or engine.state.off[other]


def test_a_walk_that_is_taken_back_leaves_no_trace(engine_at):
    engine = engine_at()
    state, before = engine.state, engine.placement()
    loads, spent, crossed, off = (one.copy() for one in (state.loads, state.spent, state.crossed, state.off))
    engine.relay.made[0], node = 0, _off(engine)
    for _ in range(5):
        node = hop(engine.fixed, state, engine.relay, node)
        if node < 0:
            break
    assert not np.array_equal(engine.placement(), before)
    undo(engine.fixed, state, engine.relay)
    assert np.array_equal(engine.placement(), before)
    np.testing.assert_allclose(state.loads, loads)
    assert np.array_equal(state.spent, spent)
    assert np.array_equal(state.crossed, crossed)
    assert np.array_equal(state.off, off)


def test_a_walk_ends_with_no_more_nodes_off_and_none_further_off(engine_at):
    engine = engine_at()
    state, ended = engine.state, 0
    for _ in range(300):
        off, worst = int(state.counters[N_OFF]), _worst(state)
        if off == 0:
            break
        walk(engine.fixed, state, engine.relay, _off(engine), worst)
        assert state.counters[N_OFF] <= off
        assert _worst(state) <= worst + 1e-9
        ended += int(engine.relay.made[0] > 0)
    assert ended > 0


def _worst(state):
    return float(np.maximum(state.loads - state.high, state.low - state.loads).max())


def test_a_walk_that_makes_room_ends_with_no_more_nodes_off_and_within_the_moves(engine_at):
    engine = engine_at()
    state, ended = engine.state, 0
    for _ in range(300):
        off = int(state.counters[N_OFF])
        if off == 0:
            break
        kick(engine.fixed, state, engine.relay, _off(engine), 0.0)
        assert state.counters[N_OFF] <= off
        assert engine.moves() <= MOVES
        ended += int(engine.relay.made[0] > 0)
    assert ended > 0


@pytest.mark.parametrize(
    ("kicked", "off", "away", "expected"),
    [(0.25, 1, 5, 250), (0.25, 4, 5, 250), (0.25, 8, 5, 125), (0.25, 40, 5, 25), (0.25, 1, 0, 0), (1.0, 4, 5, 1000)],
)
def test_the_more_nodes_are_off_the_fewer_walks_make_room(engine_at, kicked, off, away, expected):
    state = engine_at().state
    state.counters[N_OFF], state.counters[N_AWAY] = off, away
    made = sum(while_few_are_off(state, kicked) for _ in range(1000))
    assert made == pytest.approx(expected, abs=3 * expected**0.5)


def test_drifts_change_what_is_within_its_bands_and_leave_no_further_node_off(engine_at):
    engine = engine_at()
    state, changed = engine.state, 0
    for _ in range(200):
        off, before = np.flatnonzero(state.off), engine.placement()
        drift(engine.fixed, state, engine.relay)
        changed += not np.array_equal(engine.placement(), before)
        assert np.isin(np.flatnonzero(state.off), off).all()
        assert engine.moves() <= MOVES
    assert changed > 0


@pytest.mark.parametrize(("kicked", "reached"), [(1e-9, 20.0), (0.5, 0.0)])
def test_where_the_only_move_is_spent_a_group_goes_home_for_another(small_model, monkeypatch, kicked, reached):
    """Node 0 has 70 and no move left to send 20 to node 2, as the 1 of node 3 went there."""
    monkeypatch.setattr(relaying, "KICKED", (kicked, kicked))
    model = small_model([0, 0, 0, 0, 1, 2, 3, 3], [20.0, 10.0, 10.0, 30.0, 50.0, 30.0, 49.0, 1.0], n_nodes=4)
    problem = compile_problem(model, PlanParams(budget=Budget(max_migrations=1), tolerance=0.0))
    engine, limits = Engine(problem, 1), Limits(lambda: 0.0, 1.0, 100_000)
    engine.sort_groups(limits)
    found = relayed(engine, limits, Distance(problem), np.array([0, 0, 0, 0, 1, 2, 3, 2]))
    assert drain.stretch(problem, found) == pytest.approx(reached, abs=1e-9)


@pytest.mark.parametrize("saves", [False, True])
def test_where_groups_differ_in_price_the_seconds_are_kept(priced, saves):
    for seed in range(1, 5):
        engine, limits, aim = Engine(priced, seed), Limits(lambda: 0.0, 1.0, 300_000), Distance(priced)
        engine.sort_groups(limits)
        before = tightened(engine, limits, aim, priced.model.node_of)
        found = relayed(engine, limits, aim, before, saves=saves)
        assert priced.affordable(found)
        assert drain.stretch(priced, found) < 0.8 * drain.stretch(priced, before)


def test_saving_first_is_the_same_for_the_same_steps(priced):
    def found(now_s):
        engine, limits, aim = Engine(priced, 1), Limits(lambda: now_s, 1.0, 300_000), Distance(priced)
        engine.sort_groups(limits)
        return relayed(engine, limits, aim, tightened(engine, limits, aim, priced.model.node_of), saves=True)

    assert np.array_equal(found(0.0), found(0.9))


def test_what_an_exchange_spends_is_what_its_placement_does(priced_engine):
    """Against the spending of the whole placement; some of both answers are among the exchanges."""
    engine, rng, answers = priced_engine, np.random.default_rng(5), set()
    problem, before = engine.problem, engine.placement()
    for _ in range(300):
        one, other = rng.choice(problem.model.n_groups, 2, replace=False).tolist()
        first, second = rng.integers(problem.model.n_nodes, size=2).tolist()
        alone, after = bool(rng.random() < 0.5), before.copy()
        after[one] = first
        if not alone:
            after[other] = second
        pair = (NONE, 0) if alone else (other, second)
        answer = bool(affordable(engine.fixed, engine.state, (one, first), pair))
        assert answer == problem.affordable(after)
        answers.add(answer)
    assert answers == {True, False}


@pytest.mark.parametrize("allowed", [False, True])
def test_relays_wait_while_counts_allow_a_much_smaller_distance(problem_of, allowed):
    """Groups are all alike in price; a descent of some passes, for which counts always say the same."""

    class Counted(Crossings):
        def allow_less(self, distance: float) -> bool:
            return allowed

    problem, asked = problem_of(), []
    engine, limits, aim = Engine(problem, 1), Limits(lambda: 0.0, 1.0, 100_000), Distance(problem)
    engine.sort_groups(limits)

    def relays(worker: Engine, part: Limits, best: np.ndarray, board: Board | None) -> np.ndarray:
        asked.append(best)
        return relayed(worker, part, aim, best, board)

    goal = balance.Goal(
        aim=aim, floor=0.0, crossings=Counted(problem), exact=relays, relays=relays, exact_soon=True, patience=3
    )
    balance.descend(engine, limits, problem.model.node_of, goal, balance.Schedule(exact=0.5))
    assert bool(asked) != allowed
