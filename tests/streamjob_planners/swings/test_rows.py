"""The inner loop's books are what they would be if they were made anew."""

from __future__ import annotations

import numpy as np
import pytest
from pieces import carry

from streamjob_planners.cells import cells_of
from streamjob_planners.engine import Engine
from streamjob_planners.kernel.swing import anneal_rows
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.swings.rows import rows_of


@pytest.fixture
def engine(turning) -> Engine:
    rng = np.random.default_rng(2)
    level = np.sort(rng.integers(0, 3, 30))
    model = turning(rng.integers(0, 4, 30), rng.integers(0, 3, 30), n_nodes=4, level=level, noise=0.2)
    problem = compile_problem(model, PlanParams(budget=Budget(max_migrations=7)))
    return Engine(problem, 1, cells_of(problem, model.batch))


def test_ends_and_tops_are_kept_up_to_date_and_the_budget_too(engine):
    model = engine.problem.model
    rows = rows_of(engine.fixed, model.load_series, model.node_of)
    engine.load(model.node_of)
    anneal_rows(engine.fixed, engine.state, rows, (0.5, 0.01), (0, 5_000, 5_000))
    placed = engine.placement()
    anew = rows_of(engine.fixed, model.load_series, placed)
    assert np.allclose(rows.ends, anew.ends)
    assert np.allclose(rows.tops, anew.tops)
    assert 0 < np.count_nonzero(placed != model.node_of) <= 7
    assert engine.state.loads == pytest.approx(np.bincount(engine.state.at, engine.fixed.load, 12))


def test_a_step_changes_the_mean_by_what_it_says(engine):
    model, rng = engine.problem.model, np.random.default_rng(3)
    for _ in range(50):
        rows = rows_of(engine.fixed, model.load_series, model.node_of)
        before = rows.tops.sum(axis=0).mean()
        group, node = int(rng.integers(30)), int(rng.integers(4))
        cell = int(engine.fixed.home[group])
        longer = carry(engine.fixed, rows, group, (cell, int(engine.fixed.base[cell]) + node))
        assert rows.tops.sum(axis=0).mean() - before == pytest.approx(longer, abs=1e-9)
