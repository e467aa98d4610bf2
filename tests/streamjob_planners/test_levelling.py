"""Levelling: it ends where there is nothing left to spend."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners import levelling
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.problem import compile_problem


@pytest.mark.parametrize(
    ("budget", "spends"),
    [(Budget(max_migrations=20), True), (Budget(max_cost_s=2.0), True), (Budget(max_migrations=240), False)],
)
def test_no_further_transfer_is_looked_for_once_the_budget_is_spent(problem_of, monkeypatch, budget, spends):
    monkeypatch.setattr(levelling, "CHUNK", 2)
    model = problem_of(migration_cost_s=np.full(240, 0.1)).model
    problem = compile_problem(model, PlanParams(budget=budget, tolerance=0.0))
    engine, level, before = Engine(problem, 1), levelling.level, []

    def watched(fixed, state, *others):
        before.append(bool((state.spent >= 0.999 * fixed.allowances).any()))
        return level(fixed, state, *others)

    monkeypatch.setattr(levelling, "level", watched)
    levelling.levelled(engine, Limits(lambda: 0.0, 1.0, None), 0.0)
    assert not any(before)
    assert bool((engine.state.spent >= 0.999 * problem.allowances).any()) == spends
