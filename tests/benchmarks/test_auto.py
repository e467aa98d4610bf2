"""What `auto` makes of a job: a choice is told, and does not flip."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.tournament_jobs import JOBS

from streamjob_planners import registry
from streamjob_planners.auto.choice import RULES, USUAL, Why, choose
from streamjob_planners.auto.features import Features, features
from streamjob_planners.model import PlanParams

QUIET = Features(traffic_ratio=0.0)
EXPECTED = {"talkative": Why.TALKS, "talkative, by load distance": Why.TALKS}


@pytest.mark.parametrize("kind", JOBS)
@pytest.mark.parametrize("seed", range(3, 8))
def test_each_kind_of_job_is_known_for_what_it_is(kind: str, seed: int) -> None:
    """Seeds that the thresholds were not chosen by."""
    assert choose(features(JOBS[kind](seed).model)).why is EXPECTED.get(kind, Why.USUAL)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.why.value)
def test_a_figure_that_varies_around_a_threshold_does_not_flip_the_planner(rule) -> None:
    rng, before, changes = np.random.default_rng(1), None, 0
    for _ in range(200):
        value = rule.begins + rng.uniform(-0.9, 0.9) * (rule.begins - rule.ends)
        planner = choose(Features(**{rule.figure: value}), before).planner
        changes += before is not None and planner != before
        before = planner
    assert changes <= 1
    assert before == rule.planner
    assert choose(QUIET, before).planner == USUAL


def test_the_plan_says_who_made_it_and_why_and_remembers() -> None:
    model = JOBS["talkative, by load distance"](1).model
    params = PlanParams(deadline_s=60.0, max_iterations=200)
    plan = registry.get("auto").solve(model, params, np.random.default_rng(1), lambda: 0.0)
    rule = next(one for one in RULES if one.why is Why.TALKS)
    assert plan.planner == rule.planner
    assert plan.choice is not None
    assert plan.choice.startswith(f"Planner {rule.planner} by auto (KeyGroupsTalk)")


def test_everything_asked_is_in_the_registry() -> None:
    assert {USUAL, *(rule.planner for rule in RULES)} <= set(registry.names())
