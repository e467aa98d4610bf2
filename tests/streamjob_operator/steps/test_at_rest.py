"""A job at rest is told what it would be told after a search, and nobody searches."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from small_models import flags, placed, timed
from worlds import even, job, warm

from streamjob_operator import cycle
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.at_rest import plan_at_rest
from streamjob_operator.steps.solve import plan_params
from streamjob_operator.steps.worth import worth
from streamjob_operator.values import Reason
from streamjob_planners.model import LoadModel, Objective, Plan
from streamjob_planners.search import SearchPlanner

SEARCHES = (
    ("planner: greedy", "planner: search"),
    ("scaling: {mode: Auto", "scaling: {mode: 'Off'"),
    ("migrationBudget: {maxCost: 1h, maxMigrations: 4}", "migrationBudget: {maxCost: 1h, maxMigrations: 40}"),
    ("maxIterations: 1000", "maxIterations: 3000"),
)
LEVEL = timed([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1])


def by(objective: Objective) -> StreamJob:
    return job(*SEARCHES, ("planner: search", f"planner: search\n    objective: {objective.value}"))


def rests(model: LoadModel, of: StreamJob | None = None) -> Plan | None:
    of = of or by(Objective.BATCH_TIME)
    return plan_at_rest(model, of, plan_params(of))


def random_model(seed: int) -> LoadModel:
    """Key groups that are level, or nearly, on executors of one to three slots; some noise, moves that cost some."""
    rng = np.random.default_rng(seed)
    nodes, each = int(rng.integers(2, 5)), int(rng.integers(2, 9))
    seconds = rng.lognormal(0.0, rng.choice([0.0, 0.005, 0.02, 0.5]), nodes * each)
    node_of = np.repeat(np.arange(nodes), each)
    if rng.random() < 0.3:
        node_of = np.minimum(rng.permutation(node_of) + (rng.random(node_of.size) < 0.1), nodes - 1)
    slots = np.full(nodes, int(rng.integers(1, 4)), dtype=np.int64)
    noise = float(rng.choice([0.0, 0.0, 0.001, 0.05]))
    model = timed(
        seconds,
        node_of,
        nodes=nodes,
        slots=slots,
        spread_s=noise * seconds,
        error_s=noise / 2.0 * seconds,
        fixed_s=float(rng.choice([0.0, 5.0])),
    )
    cost_s = np.full(seconds.size, float(rng.choice([0.0, 0.1, 10.0])))
    pinned = rng.random(seconds.size) < rng.choice([0.0, 0.2])
    return dataclasses.replace(model, migration_cost_s=cost_s, pinned=pinned, load=20.0 * seconds / slots[0] / each)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(Objective))
def test_what_a_search_finds_is_judged_as_today_is(seed: int, objective: Objective) -> None:
    model, of = random_model(seed), by(objective)
    resting = rests(model, of)
    if resting is None:
        return
    found = SearchPlanner().solve(model, plan_params(of), np.random.default_rng(seed), lambda: 0.0)
    judged, wanted = (worth(model, one, of.spec.balancing) for one in (resting, found))
    assert (judged.act, judged.reason) == (wanted.act, wanted.reason) == (False, Reason.BALANCED)
    assert judged.message == wanted.message
    assert resting.before == found.before


@pytest.mark.parametrize("objective", Objective)
def test_many_of_them_rest(objective: Objective) -> None:
    found = [rests(random_model(seed), by(objective)) for seed in range(200)]
    assert 20 <= sum(one is not None for one in found) < 200


def test_level_batches_rest_and_others_do_not() -> None:
    assert rests(LEVEL) is not None
    assert rests(timed([1.0, 1.0, 1.0, 1.0], [0, 0, 0, 1])) is None
    uneven = timed([1.0, 1.0, 1.015, 1.015], [0, 0, 1, 1])
    assert rests(uneven) is not None, "less than a percent may be won"
    assert rests(timed([1.0, 1.0, 1.03, 1.03], [0, 0, 1, 1])) is None


def test_a_distance_that_is_tolerated_rests() -> None:
    of = by(Objective.LOAD_DISTANCE)
    assert rests(placed([50.0, 31.0], [0, 1]), of) is not None
    assert rests(placed([50.0, 29.0], [0, 1]), of) is None


@pytest.mark.parametrize(
    "model",
    [
        dataclasses.replace(LEVEL, marked=flags(2, 1)),
        dataclasses.replace(LEVEL, traffic=sparse.csr_array(np.eye(4))),
        timed([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1], nodes=3),
    ],
    ids=["an executor that goes", "traffic", "an executor without key groups"],
)
def test_where_something_else_may_ask_for_moves_none_rests(model: LoadModel) -> None:
    assert rests(model) is None


@pytest.mark.parametrize(
    "change", [("planner: search", "planner: greedy"), ("mode: 'Off'", "mode: Auto"), ("max: 6", "max: 6, replicas: 2")]
)
def test_with_other_planners_and_executors_that_may_change_none_rests(change: tuple[str, str]) -> None:
    assert rests(LEVEL, job(*SEARCHES, change)) is None


def test_a_cycle_at_rest_asks_no_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    of, messages = job(*SEARCHES), []
    for way in (plan_at_rest, lambda *_: None):
        monkeypatch.setattr(cycle, "plan_at_rest", way)
        record = warm(even(2, 3, 10.0), of).turn(of)
        assert record.verdict.reason is Reason.BALANCED
        messages.append(record.verdict.message)
        assert ("solve" in record.step_seconds) is (way is not plan_at_rest)
    assert messages[0] == messages[1]
