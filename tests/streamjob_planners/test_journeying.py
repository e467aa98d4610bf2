"""Journeys: counts balance and keep the budget, placements have them, and they are near where counts decide."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners import drain
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.journeying import begun, counts_of, journeyed, mixed
from streamjob_planners.model import Budget, PlanParams, Resource
from streamjob_planners.problem import compile_problem

MOVES, NODES, GROUPS = 18, 12, 240


@pytest.fixture
def engine_of(small_model):
    """Twelve nodes, twenty groups each by chance, a tenth of them ten times as heavy; few moves."""
    rng = np.random.default_rng(3)
    heavy = rng.random(GROUPS) < 0.1
    load, at = (
        np.where(heavy, rng.uniform(8, 12, GROUPS), rng.uniform(0.5, 1.5, GROUPS)),
        rng.integers(0, NODES, GROUPS),
    )

    def made(moves=MOVES, seed=1, **changes):
        model = small_model(at.tolist(), (600 * load / load.sum()).tolist(), n_nodes=NODES, **changes)
        budget = moves if isinstance(moves, Budget) else Budget(max_migrations=moves)
        engine = Engine(compile_problem(model, PlanParams(budget=budget, tolerance=0.0)), seed)
        engine.sort_groups(Limits(lambda: 0.0, 1.0, None))
        return engine

    return made


def _journeyed(engine, reached=1.0, steps=2_000_000, now_s=0.0):
    aim, counts = Distance(engine.problem), counts_of(engine)
    return journeyed(engine, Limits(lambda: now_s, 1.0, steps), aim, counts, reached)


def test_counts_balance_and_keep_the_budget(engine_of):
    engine = engine_of()
    counts = counts_of(engine)
    for seed in range(5):
        leaving, arriving = counts.drawn(0.5, np.random.default_rng(seed))
        assert leaving.sum(axis=1).tolist() == arriving.sum(axis=1).tolist()
        assert 0 < leaving.sum() <= MOVES


def test_a_node_that_is_near_keeps_its_groups_where_moves_are_few(engine_of):
    engine = engine_of(moves=12)
    counts = counts_of(engine)
    leaving, arriving = counts.drawn(3.0, np.random.default_rng(1))
    many = (leaving + arriving).sum(axis=0)
    assert many[np.abs(counts.off) > 3.0].min() > 0
    assert many[np.abs(counts.off) <= 3.0].sum() < many[np.abs(counts.off) > 3.0].sum()


def test_a_placement_begins_with_its_counts(engine_of):
    engine = engine_of()
    counts, home = counts_of(engine), engine.problem.model.node_of
    leaving, arriving = counts.drawn(0.5, np.random.default_rng(1))
    at, going = begun(engine.problem, counts, (leaving, arriving), np.random.default_rng(2))
    assert sorted(going.tolist()) == np.flatnonzero(at != home).tolist()
    for kind in (0, 1):
        those = going[counts.kind[going] == kind]
        assert np.bincount(home[those], minlength=NODES).tolist() == leaving[kind].tolist()
        assert np.bincount(at[those], minlength=NODES).tolist() == arriving[kind].tolist()


def test_no_group_arrives_at_its_home():
    homes = np.repeat(np.arange(5), 4)
    found = mixed(homes, homes, np.random.default_rng(1))
    assert sorted(found.tolist()) == homes.tolist()
    assert not (found == homes).any()
    assert mixed(np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64), np.random.default_rng(1)) is None


def test_it_is_near_within_the_moves(engine_of):
    engine = engine_of()
    found, home = _journeyed(engine), engine.problem.model.node_of
    assert np.count_nonzero(found != home) <= MOVES
    assert drain.stretch(engine.problem, found) < 0.06 * drain.stretch(engine.problem, home)


def test_pinned_groups_stay(engine_of):
    pinned = np.arange(GROUPS) % 3 == 0
    engine = engine_of(moves=24, pinned=pinned)
    found = _journeyed(engine, reached=6.0)
    moved = found != engine.problem.model.node_of
    assert moved.any()
    assert not (moved & pinned).any()


def test_the_same_steps_give_the_same_placement_whatever_the_clock_says(engine_of):
    assert np.array_equal(_journeyed(engine_of()), _journeyed(engine_of(), now_s=0.9))


def test_where_time_is_over_there_is_none(engine_of):
    assert _journeyed(engine_of(), now_s=2.0) is None


def test_where_no_counts_keep_the_budget_there_is_none(engine_of):
    assert _journeyed(engine_of(moves=1)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"marked": np.arange(NODES) < 1},
        {"capacity": np.where(np.arange(NODES) < 6, 1.0, 2.0)},
        {"resources": (Resource(name="memory", use=np.ones(GROUPS), limit=np.full(NODES, 30.0)),)},
        {"moves": Budget()},
    ],
)
def test_it_is_for_alike_nodes_and_a_number_of_moves_alone(engine_of, changes):
    assert counts_of(engine_of(**changes)) is None
    assert counts_of(engine_of()) is not None
