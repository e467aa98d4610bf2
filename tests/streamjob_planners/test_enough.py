"""A search that is told what is not worth planning for ends sooner, and loses no more than that."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import balance, registry, verify
from streamjob_planners.acceptance import empty_nodes
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import Budget, LoadModel, Plan, PlanParams

RATIO, STEPS = 0.01, 100_000


@pytest.fixture
def job(small_model):
    """A job of 120 key groups on five executors, of one level or more."""

    def make(seed: int = 1, *, levels: int = 1, level: bool = False, **changes) -> LoadModel:
        rng = np.random.default_rng(seed)
        task_s = rng.lognormal(0.0, 0.5, 120)
        node_of = _levelled(task_s, np.arange(120) % levels, 5) if level else np.arange(120) % 5
        shape = BatchShape(
            level=np.arange(120) % levels,
            task_s=task_s,
            spread_s=np.zeros(120),
            slots=np.full(5, int(changes.pop("slots", 1))),
            speed=np.ones(5),
            fixed_s=0.5,
        )
        changes = {"migration_cost_s": np.full(120, 0.3), **changes}
        return small_model(list(node_of), list(task_s), n_nodes=5, batch=shape, **changes)

    return make


def _levelled(task_s, level, n_nodes):
    busy = np.zeros((level.max() + 1, n_nodes))
    node_of = np.zeros(task_s.size, dtype=np.int64)
    for group in np.argsort(-task_s):
        node_of[group] = busy[level[group]].argmin()
        busy[level[group], node_of[group]] += task_s[group]
    return node_of


@pytest.fixture
def meetings(monkeypatch):
    """How often threads of a search have met."""
    found = []
    together = balance._together
    monkeypatch.setattr(balance, "_together", lambda *given: found.append(1) or together(*given))
    return found


def solved(model: LoadModel, ratio: float = RATIO, **params: object) -> Plan:
    settings = PlanParams(deadline_s=1e9, max_iterations=STEPS, least_gain_ratio=ratio, **params)
    plan = registry.get("search").solve(model, settings, np.random.default_rng(1), lambda: 0.0)
    assert verify.verify(model, plan, settings) == ()
    return plan


def total_s(model: LoadModel, plan: Plan) -> float:
    paid = (plan.node_of != model.node_of) & ~empty_nodes(model)[plan.node_of]
    return plan.after.batch_s + 0.1 * float(model.migration_cost_s[paid].sum())


def test_a_batch_that_is_short_enough_is_left_as_it_is_without_a_search(job, meetings) -> None:
    model = job(level=True)
    assert solved(model, 0.0).batch_bound_s < model_s(model) < (1 + RATIO) * solved(model, 0.0).batch_bound_s
    meetings.clear()
    plan = solved(model)
    assert (len(plan.moves), len(meetings)) == (0, 0)
    assert plan.batch_bound_s == pytest.approx(solved(model, 0.0).batch_bound_s)


def model_s(model: LoadModel) -> float:
    return solved(model, 0.0, budget=Budget(max_migrations=0)).after.batch_s


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("move_s", [0.02, 0.3, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_no_more_is_lost_than_is_not_worth_having(job, meetings, levels, move_s, seed) -> None:
    model = job(seed, levels=levels, migration_cost_s=np.full(120, move_s))
    whole, searched = solved(model, 0.0), len(meetings)
    early = solved(model)
    assert total_s(model, early) <= total_s(model, whole) + RATIO * whole.before.batch_s
    assert len(meetings) - searched <= searched


def test_the_less_can_be_won_the_fewer_meetings_without_a_gain_end_it() -> None:
    goal = balance.Goal(aim=None, floor=0.0, crossings=None, patience=100, least=10.0, worth=0.2)
    assert [goal.patience_at(one) for one in (15.0, 14.0, 12.0, 10.2, 10.0, 9.0)] == pytest.approx(
        [100, 100, 50, 5, 0, 0]
    )
    assert dataclasses.replace(goal, worth=0.0).patience_at(10.0) == 100


def test_executors_that_came_get_their_share_though_the_batch_gets_no_shorter(job) -> None:
    """One key group is as long as a batch can be; two of five executors have nothing."""
    model = job()
    task_s = model.batch.task_s.copy()
    task_s[0] = 40.0
    node_of = np.where(np.arange(120) == 0, 0, 1 + np.arange(120) % 2)
    model = dataclasses.replace(model, node_of=node_of, batch=dataclasses.replace(model.batch, task_s=task_s))
    plan = solved(model)
    assert (np.bincount(plan.node_of, minlength=5) > 0).all()


def test_marked_executors_are_emptied_though_the_batch_is_short_enough(job) -> None:
    model = job(level=True, marked=np.array([True] + [False] * 4))
    assert solved(model).after.marked_groups == 0


@pytest.mark.parametrize("ratio", [-0.1, np.nan])
def test_a_bad_ratio_is_refused(job, ratio) -> None:
    with pytest.raises(ValueError, match="least_gain_ratio"):
        solved(job(), ratio)
