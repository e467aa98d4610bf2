"""The ledger's sums against those of placements worked out from scratch."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners import measures
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import Budget, PlanParams, Resource
from streamjob_planners.problem import compile_problem


def _ledger(small_model, **budget):
    rng = np.random.default_rng(4)
    model = small_model(
        rng.integers(0, 4, 20).tolist(),
        rng.uniform(1.0, 5.0, 20).tolist(),
        n_nodes=4,
        marked=np.array([False, False, False, True]),
        resources=(Resource(name="memory", use=rng.uniform(0.0, 1.0, 20), limit=np.full(4, 4.0)),),
    )
    return Ledger(compile_problem(model, PlanParams(budget=Budget(**budget))))


def test_sums_stay_those_of_the_placement_however_many_moves_are_made(small_model):
    ledger, rng = _ledger(small_model), np.random.default_rng(0)
    model = ledger.problem.model
    for _ in range(200):
        group = int(rng.integers(20))
        nodes = ledger.fitting(group)
        if nodes.size:
            assert ledger.move(group, int(rng.choice(nodes)))
    assert ledger.loads == pytest.approx(measures.node_loads(model, ledger.node_of))
    assert ledger.spent == pytest.approx(ledger.problem.spent(ledger.node_of))
    assert not model.marked[ledger.node_of[ledger.node_of != model.node_of]].any()


def test_who_may_go_where_is_one_answer_asked_for_one_or_for_many(small_model):
    ledger = _ledger(small_model)
    groups, nodes = np.divmod(np.arange(80), 4)
    many = ledger.takes(groups, nodes) & (nodes != ledger.node_of[groups])
    assert many.any()
    assert not many.all()
    assert many.tolist() == [ledger.fits(int(k), int(i)) for k, i in zip(groups, nodes, strict=True)]
    for group in range(20):
        assert ledger.fitting(group).tolist() == np.flatnonzero(many[4 * group : 4 * group + 4]).tolist()


def test_the_budget_is_spent_and_comes_back_on_the_way_home(small_model):
    ledger = _ledger(small_model, max_migrations=1)
    everyone = np.arange(20)
    first = next(group for group in range(20) if ledger.fitting(group).size)
    home = int(ledger.node_of[first])
    assert ledger.payable(everyone).all()
    assert ledger.move(first, int(ledger.fitting(first)[0]))
    assert not ledger.payable(everyone).any()
    assert not ledger.affordable((first + 1) % 20, (int(ledger.node_of[(first + 1) % 20]) + 1) % 4)
    assert ledger.move(first, home)
    assert ledger.payable(everyone).all()


def test_what_gets_lighter_is_lighter_on_its_node_and_after_its_move(small_model):
    ledger = _ledger(small_model)
    group = next(group for group in range(20) if ledger.fitting(group).size)
    before, source, target = ledger.loads.copy(), int(ledger.node_of[group]), int(ledger.fitting(group)[0])
    ledger.lighten(np.array([group]), np.array([0.5]))
    ledger.move(group, target)
    load = ledger.problem.model.load[group]
    assert before[source] - ledger.loads[source] == pytest.approx(load)
    assert ledger.loads[target] - before[target] == pytest.approx(load - 0.5)
