"""Regrouping: three nodes share anew what came to them; nothing else moves, no further node is off, moves are kept."""

from __future__ import annotations

import numpy as np
import pytest
from pieces import brought_in, hop, saved

from streamjob_planners import drain, relaying
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.kernel.relay import NONE, STUCK
from streamjob_planners.kernel.state import CAME, LEFT, N_OFF, NOBODY
from streamjob_planners.model import Budget, PlanParams, Resource
from streamjob_planners.problem import compile_problem
from streamjob_planners.relaying import relayed

MOVES, TRIES = 20, 400
"""Those of `problem_of`, and tries until something must have come of them."""


@pytest.fixture
def shares(small_model):
    """Nodes 0 to 2 lack 8, 7 and 6 without what came from node 3: 6 and 1, 5 and 2, 4 and 3."""
    home = [0, 1, 2, 3, 3, 3, 3, 3, 3, 3]
    model = small_model(home, [42.0, 43.0, 44.0, 50.0, 6.0, 1.0, 5.0, 2.0, 4.0, 3.0], n_nodes=4)
    problem = compile_problem(model, PlanParams(budget=Budget(max_migrations=6), tolerance=0.0))
    engine = Engine(problem, 1)
    engine.sort_groups(Limits(lambda: 0.0, 1.0, 1000))
    engine.load(np.array([0, 1, 2, 3, 0, 0, 1, 1, 2, 2]))
    engine.set_bands(*Distance(problem).bands(0.5))
    return engine


def _off(engine):
    return np.flatnonzero(engine.state.off).tolist()


def _consistent(engine):
    """Whether what is kept up to date is what a placement from scratch has."""
    state, fresh = engine.state, Engine(engine.problem, 1)
    fresh.load(engine.placement())
    fresh.set_bands(state.low.copy(), state.high.copy())
    assert np.allclose(state.loads, fresh.state.loads)
    assert np.array_equal(state.off, fresh.state.off)
    assert np.array_equal(state.spent, fresh.state.spent)
    assert np.array_equal(state.crossed, fresh.state.crossed)
    for row, nodes in ((LEFT, engine.fixed.home), (CAME, state.at)):
        for node in range(engine.problem.model.n_nodes):
            away = np.flatnonzero((state.at != engine.fixed.home) & (nodes == node))
            assert sorted(_listed(state, row, node)) == away.tolist()


def _listed(state, row, node):
    """The groups of a list."""
    groups, group = [], int(state.newest[row, node])
    while group != NOBODY:
        groups.append(group)
        group = int(state.older[row, group])
    return groups


def test_what_came_to_three_nodes_is_shared_so_that_all_are_in_their_bands(shares):
    assert _off(shares) == [0, 2]
    assert any(brought_in(shares.fixed, shares.state, shares.relay.regroup, 0) for _ in range(TRIES))
    assert _off(shares) == []
    assert shares.moves() == 6
    _consistent(shares)


def test_where_no_way_to_share_suffices_nothing_moves(shares):
    shares.set_bands(np.full(4, 50.0), np.full(4, 50.0))
    shares.state.low[0] = shares.state.high[0] = 50.25
    before = shares.placement()
    assert not any(brought_in(shares.fixed, shares.state, shares.relay.regroup, 0) for _ in range(TRIES))
    assert np.array_equal(shares.placement(), before)


def test_one_that_is_brought_in_leaves_no_other_one_off(engine_at):
    engine = engine_at()
    state, done = engine.state, 0
    for _ in range(TRIES):
        off, before = _off(engine), engine.placement()
        if not off:
            break
        if brought_in(engine.fixed, state, engine.relay.regroup, off[0]):
            done += 1
            assert set(_off(engine)) < set(off)
            assert off[0] not in _off(engine)
        else:
            assert np.array_equal(engine.placement(), before)
        assert engine.moves() <= MOVES
    assert done > 0
    _consistent(engine)


def test_a_node_that_sends_groups_may_send_another_one_instead(engine_at):
    """Of nodes to which nothing came nothing else can change."""
    changed = 0
    for seed in range(1, 9):
        engine = engine_at(seed=seed)
        state, home = engine.state, engine.problem.model.node_of
        for node in _off(engine):
            if state.crossed[LEFT, node] > 0 and not state.crossed[1, node]:
                own, left = home == node, int(state.crossed[LEFT, node])
                before = engine.placement()
                if any(brought_in(engine.fixed, state, engine.relay.regroup, node) for _ in range(TRIES)):
                    assert not np.array_equal(engine.placement()[own], before[own])
                    assert state.crossed[LEFT, node] <= left + 1
                    changed += 1
        _consistent(engine)
    assert changed > 0


def test_a_move_that_is_saved_leaves_no_further_node_off(engine_at):
    engine = engine_at(part=1.0 + 1e-6)
    state, before, done = engine.state, engine.moves(), 0
    for _ in range(20 * TRIES):
        off = int(state.counters[N_OFF])
        if saved(engine.fixed, state, engine.relay.regroup):
            done += 1
            assert engine.moves() <= before - done
        assert state.counters[N_OFF] <= off
    assert done > 0
    _consistent(engine)


def test_nothing_is_shared_with_a_marked_node(engine_at):
    marked = np.arange(12) < 2
    engine = engine_at(marked=marked)
    home = engine.problem.model.node_of
    for node in range(12):
        for _ in range(TRIES):
            brought_in(engine.fixed, engine.state, engine.relay.regroup, node)
            saved(engine.fixed, engine.state, engine.relay.regroup)
    found = engine.placement()
    assert not (marked[found] & (found != home)).any()


def test_further_resources_are_left_to_exchanges(engine_at):
    resource = Resource(name="memory", use=np.ones(240), limit=np.full(12, 1000.0))
    engine = engine_at(resources=(resource,))
    assert not any(brought_in(engine.fixed, engine.state, engine.relay.regroup, _off(engine)[0]) for _ in range(TRIES))
    assert not any(saved(engine.fixed, engine.state, engine.relay.regroup) for _ in range(TRIES))


@pytest.mark.parametrize(("part", "reached"), [(1e-9, 10.0), (0.3, 0.0)])
def test_where_all_moves_are_spent_one_group_goes_in_place_of_two(small_model, monkeypatch, part, reached):
    """Node 0 sends 12 and 8, and could send 20; node 4 has no move left for its 10, which node 5 lacks."""
    monkeypatch.setattr(relaying, "SAVED", (part, part))
    monkeypatch.setattr(relaying, "DRIFTS", (1e-9, 1e-9))
    monkeypatch.setattr(relaying, "KICKED", (1e-9, 1e-9))
    home = [0, 0, 0, 0, 1, 2, 3, 3, 4, 4, 5]
    load = [12.0, 8.0, 20.0, 30.0, 30.0, 45.0, 50.0, 5.0, 50.0, 10.0, 40.0]
    model = small_model(home, load, n_nodes=6)
    problem = compile_problem(model, PlanParams(budget=Budget(max_migrations=3), tolerance=0.0))
    engine, limits, aim = Engine(problem, 1), Limits(lambda: 0.0, 1.0, 300_000), Distance(problem)
    engine.sort_groups(limits)
    found = relayed(engine, limits, aim, np.array([1, 1, 0, 0, 1, 2, 3, 2, 4, 4, 5]))
    assert drain.stretch(problem, found) == pytest.approx(reached, abs=1e-9)


def test_a_node_that_no_exchange_brings_in_is_what_this_is_for(engine_at):
    """Of what walks leave at a narrow band some can still be brought in."""
    rescued = 0
    for seed in range(1, 9):
        engine = engine_at(part=0.5, seed=seed)
        for node in _off(engine):
            engine.relay.made[0] = 0
            if hop(engine.fixed, engine.state, engine.relay, node) == STUCK:
                rescued += any(brought_in(engine.fixed, engine.state, engine.relay.regroup, node) for _ in range(TRIES))
            assert engine.relay.other[0] >= NONE
    assert rescued > 0


def test_where_groups_differ_in_price_another_one_goes_only_as_far_as_the_budget_does(priced_engine):
    engine, done = priced_engine, 0
    for _ in range(20 * TRIES):
        off = _off(engine)
        if not off:
            break
        done += brought_in(engine.fixed, engine.state, engine.relay.regroup, off[0])
        assert (engine.state.spent <= engine.fixed.allowances).all()
    assert done > 0
    assert engine.problem.affordable(engine.placement())
    _consistent(engine)
