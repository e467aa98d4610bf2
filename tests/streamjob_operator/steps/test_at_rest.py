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
from streamjob_operator.scaling import registry
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


RESIZES = ("mode: 'Off'", "mode: Auto")


def by(objective: Objective, *changes: tuple[str, str]) -> StreamJob:
    return job(*SEARCHES, ("planner: search", f"planner: search\n    objective: {objective.value}"), *changes)


def rests(model: LoadModel, of: StreamJob | None = None) -> Plan | None:
    of = of or by(Objective.BATCH_TIME)
    return plan_at_rest(model, of, plan_params(of))[0]


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


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_where_executors_may_change_it_is_the_plan_that_a_search_gives(seed: int) -> None:
    model, of = random_model(seed), by(Objective.BATCH_TIME, RESIZES)
    resting = rests(model, of)
    if resting is None:
        return
    found = SearchPlanner().solve(model, plan_params(of), np.random.default_rng(seed), lambda: 0.0)
    assert np.array_equal(resting.node_of, found.node_of)
    for field in ("planner", "moves", "before", "after", "batch_bound_s", "proven_optimal", "notes"):
        assert getattr(resting, field) == getattr(found, field)


@pytest.mark.parametrize("changes", [(), (RESIZES,)], ids=["fixed", "a range"])
def test_many_of_them_rest(changes: tuple[tuple[str, str], ...]) -> None:
    found = [rests(random_model(seed), by(Objective.BATCH_TIME, *changes)) for seed in range(200)]
    assert 20 <= sum(one is not None for one in found) < 200


def test_noise_of_tasks_does_not_keep_one_from_resting() -> None:
    noisy = timed([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1], spread_s=np.full(4, 0.2), error_s=np.full(4, 0.1))
    assert rests(noisy) is not None
    assert rests(noisy, by(Objective.BATCH_TIME, RESIZES)) is not None


def test_where_executors_may_change_what_could_be_evener_does_not_rest() -> None:
    long_one = timed([2.0, 0.5, 0.5, 0.5, 0.1], [0, 1, 1, 1, 2], nodes=3)
    assert rests(long_one) is not None, "one key group is as long as a batch"
    assert rests(long_one, by(Objective.BATCH_TIME, RESIZES)) is None


def test_by_distance_they_may_change_where_nobody_predicts_batches() -> None:
    of = by(Objective.LOAD_DISTANCE, RESIZES)
    assert rests(placed([50.0, 31.0], [0, 1]), of) is not None
    assert rests(LEVEL, of) is None


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


def test_with_other_planners_none_rests() -> None:
    assert rests(LEVEL, job(*SEARCHES, ("planner: search", "planner: greedy"))) is None


@pytest.mark.parametrize("rule", [None, "replicas", *registry.names()])
@pytest.mark.parametrize("load", [3.0, 10.0, 30.0])
def test_a_cycle_at_rest_asks_no_planner_and_tells_the_same(
    monkeypatch: pytest.MonkeyPatch, rule: str | None, load: float
) -> None:
    replicas, ruled = ("max: 6", "max: 6, replicas: 2"), ("mode: 'Off'", f"mode: Auto, rule: {rule}")
    of, told = job(*SEARCHES, *(() if rule is None else (replicas,) if rule == "replicas" else (ruled,))), []
    for way in (plan_at_rest, lambda *_: (None, None)):
        monkeypatch.setattr(cycle, "plan_at_rest", way)
        record = warm(even(2, 3, load), of).turn(of)
        told.append((record.verdict.reason, record.verdict.message, record.scaling, record.memory.scaling))
        assert ("solve" in record.step_seconds) is (way is not plan_at_rest)
    assert told[0] == told[1]
