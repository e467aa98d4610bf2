"""Where batch time counts, traffic is made local as far as its learned price pays for the moves, levels and all."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import acceptance, facts, measures, plans, registry, what_if
from streamjob_planners.albic.improved import by_time, descent
from streamjob_planners.albic.step_1_scores import beneficial_pairs
from streamjob_planners.albic.task import Task, start_task
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import Budget, LoadModel, PlanParams, Resource
from streamjob_planners.verify import ViolationCode, verify

PERIOD_S = 10.0
NODES, PER_NODE = 6, 20
PARAMS = PlanParams(budget=Budget(max_migrations=12), deadline_s=60.0, max_iterations=20_000)


@pytest.fixture
def talking(one_to_one):
    """Two operators of one level each; all remote traffic together costs `price` of the work there is without it."""

    def make(price: float, seed: int = 0, **changes: object) -> LoadModel:
        model = one_to_one(NODES, PER_NODE, 2, seed)
        sent = float(measures.sent_bps(model).sum())
        model = dataclasses.replace(model, traffic_load_ratio=price * float(model.load.sum()) / (2.0 * sent))
        pairs = model.traffic.tocoo()
        away = model.node_of[pairs.row] != model.node_of[pairs.col]
        paid = np.where(away, pairs.data, 0.0) * model.traffic_load_ratio
        load = model.load + np.bincount(pairs.row, paid, model.n_groups) + np.bincount(pairs.col, paid, model.n_groups)
        batch = BatchShape(
            level=np.array([one.operator for one in model.group_ids]),
            task_s=load / 100.0 * PERIOD_S,
            spread_s=np.zeros(model.n_groups),
            slots=np.ones(NODES, dtype=np.int64),
            speed=np.ones(NODES),
        )
        return dataclasses.replace(
            model, load=load, batch=batch, **{"migration_cost_s": np.full(model.n_groups, 0.05), **changes}
        )

    return make


def _rounds(name: str, model: LoadModel, count: int) -> tuple[LoadModel, int]:
    """The model as it would be measured after so many rounds, and their moves; no plan is refused."""
    moves = 0
    for number in range(count):
        plan = registry.get(name).solve(model, PARAMS, np.random.default_rng(number), lambda: 0.0)
        assert verify(model, plan, PARAMS) == ()
        model, moves = what_if.with_owners(model, plan.node_of), moves + len(plan.moves)
    return model, moves


def _batch_s(model: LoadModel) -> float:
    found = measures.effect(model, model.node_of).batch_s
    assert found is not None
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_dear_traffic_is_made_local_and_batches_get_shorter_than_by_levelling(talking, seed: int) -> None:
    model = talking(0.5, seed)
    together, _ = _rounds("albic", model, 8)
    level, _ = _rounds("search", model, 8)
    factor = measures.collocation_factor(together, together.node_of)
    assert factor is not None
    assert factor > 80.0
    assert _batch_s(together) < 0.85 * _batch_s(level)


def test_traffic_that_does_not_pay_for_its_moves_moves_nothing(talking) -> None:
    model = talking(0.5, migration_cost_s=np.full(NODES * PER_NODE, 60.0))
    assert descent.descended(_task(model)).tolist() == model.node_of.tolist()


def test_without_a_learned_price_it_is_not_asked(talking) -> None:
    model = dataclasses.replace(talking(0.5), traffic_load_ratio=0.0)
    assert descent.descended(_task(model)).tolist() == model.node_of.tolist()


def test_it_keeps_the_budget_pins_and_marks(talking) -> None:
    held = np.arange(NODES * PER_NODE) % 3 == 0
    model = talking(0.5, pinned=held, marked=np.arange(NODES) == 2)
    found = descent.descended(_task(model))
    moved = found != model.node_of
    assert 0 < moved.sum() <= 12
    assert not (moved & held).any()
    assert not (found[moved] == 2).any()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_state_that_an_executor_has_no_memory_for_does_not_join_its_partner(talking, seed: int) -> None:
    """The judge would refuse the whole plan: such a job would never be balanced."""
    use = np.random.default_rng(seed).lognormal(0.0, 1.0, NODES * PER_NODE)
    most = float(np.bincount(talking(0.5, seed).node_of, use).max())
    model = talking(0.5, seed, resources=(Resource(name="memory", use=use, limit=np.full(NODES, most)),))
    plan = registry.get("albic").solve(model, PARAMS, np.random.default_rng(0), lambda: 0.0)
    assert verify(model, plan, PARAMS) == ()
    assert plan.moves


def _task(model: LoadModel) -> Task:
    return start_task(model, PARAMS, np.random.default_rng(0), lambda: 0.0, registry.get("search"))


def test_gains_are_those_of_the_measure_worked_out_anew(talking) -> None:
    """To first order: with 20 tasks a node one task's square is small beside what its node has."""
    model = talking(0.5)
    gain_s = descent._gains_s(descent._ground(model), model.node_of)
    before = facts.batch_facts(model, model.node_of)["level_rms_s"]
    rng = np.random.default_rng(5)
    for group, node in zip(rng.integers(0, model.n_groups, 40), rng.integers(0, NODES, 40), strict=True):
        node_of = model.node_of.copy()
        node_of[group] = node
        then = what_if.with_owners(model, node_of)
        exact = before - facts.batch_facts(then, node_of)["level_rms_s"]
        assert gain_s[group, node] == pytest.approx(exact, abs=0.1 * float(np.abs(gain_s).max()))


def test_planned_seconds_are_the_judges(talking) -> None:
    model = talking(0.5)
    node_of = np.random.default_rng(3).permutation(model.node_of)
    assert acceptance.planned_batch_s(model, node_of) == pytest.approx(facts.planned_batch_s(model, node_of))
    assert acceptance.planned_batch_s(model, model.node_of) == pytest.approx(_batch_s(model))
    load = model.load / 1000.0  # far below 1, and of one that takes its time none was measured
    load[0] = 0.0
    light = dataclasses.replace(model, load=load, traffic_load_ratio=model.traffic_load_ratio / 1000.0)
    assert acceptance.planned_batch_s(light, node_of) == pytest.approx(facts.planned_batch_s(light, node_of))
    shapeless = dataclasses.replace(model, batch=None)
    assert acceptance.planned_batch_s(shapeless, node_of) is facts.planned_batch_s(shapeless, node_of) is None


def test_a_longer_batch_is_no_price_for_a_byte_that_is_local(small_model) -> None:
    """Group 0 joins its partner on n1, which has work: that saves next to nothing, or all that both ends read."""
    shape = BatchShape(
        level=np.zeros(3, dtype=np.int64),
        task_s=np.array([2.0, 2.0, 1.0]),
        spread_s=np.zeros(3),
        slots=np.ones(2, dtype=np.int64),
        speed=np.ones(2),
    )
    cheap = small_model([0, 1, 1], [2.0, 2.0, 1.0], {(0, 1): 1.0}, n_nodes=2, batch=shape, traffic_load_ratio=0.1)
    joined = np.array([1, 1, 1])
    for model, codes in ((cheap, {ViolationCode.WORSE_THAN_HOLD}), (_dear(cheap), set())):
        plan = plans.make_plan(model, joined, planner="test", elapsed_s=0.0)
        assert {one.code for one in verify(model, plan, PARAMS)} == codes
        assert acceptance.no_worse(model, joined, PARAMS) is (not codes)


def _dear(model: LoadModel) -> LoadModel:
    return dataclasses.replace(model, traffic_load_ratio=1.5)


def test_of_a_model_that_predicts_no_batches_nothing_is_chosen_by_time(talking):
    model = dataclasses.replace(talking(0.1), batch=None)
    with pytest.raises(ValueError, match="predicts no batches"):
        by_time.plan_by_time(_task(model), beneficial_pairs(model, 1.0), lambda node_of: node_of)
