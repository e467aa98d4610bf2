"""The judge finds every kind of fault: one tampered plan for each violation."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from streamjob_planners import facts, measures, plans
from streamjob_planners.batch.shape import BatchShape, FreeStage
from streamjob_planners.model import Budget, PlanParams, Resource
from streamjob_planners.verify import ViolationCode, verify

PARAMS = PlanParams()


def _codes(model, plan, params=PARAMS):
    violations = verify(model, plan, params)
    assert all(violation.sentence.endswith(".") for violation in violations)
    return {violation.code for violation in violations}


@pytest.fixture
def model(small_model):
    """Two full nodes, one empty: groups 0, 1 on n0, 2, 3 on n1."""
    return small_model([0, 0, 1, 1], [10.0, 20.0, 10.0, 20.0], {(0, 2): 5.0}, n_nodes=3)


def _plan(model, node_of):
    return plans.make_plan(model, np.array(node_of), planner="test", elapsed_s=0.0)


def test_a_good_plan_has_no_violation(model):
    assert verify(model, _plan(model, [0, 2, 1, 1]), PARAMS) == ()


@pytest.mark.parametrize("node_of", [[0, 0, 1], [0, 0, 1, 3], [0, 0, 1, -1]])
def test_shape(model, node_of):
    bad = dataclasses.replace(_plan(model, [0, 2, 1, 1]), node_of=np.array(node_of))
    assert _codes(model, bad) == {ViolationCode.SHAPE}


def test_moves_that_do_not_lead_to_the_placement(model):
    good = _plan(model, [0, 2, 1, 1])
    assert ViolationCode.MOVES in _codes(model, dataclasses.replace(good, moves=()))
    assert ViolationCode.MOVES in _codes(model, dataclasses.replace(good, moves=tuple(good.moves) * 2))
    dearer = dataclasses.replace(good.moves[0], cost_s=9.0)
    assert ViolationCode.MOVES in _codes(model, dataclasses.replace(good, moves=(dearer,)))


@pytest.mark.parametrize(
    ("budget", "code"),
    [
        (Budget(max_cost_s=0.5), ViolationCode.BUDGET_COST),
        (Budget(max_migrations=0), ViolationCode.BUDGET_MIGRATIONS),
        (Budget(max_state_bytes=99.0), ViolationCode.BUDGET_BYTES),
    ],
)
def test_budget(model, budget, code):
    assert _codes(model, _plan(model, [0, 2, 1, 1]), PlanParams(budget=budget)) == {code}


def test_pinned_and_marked(model):
    pinned = dataclasses.replace(model, pinned=np.array([False, True, False, False]))
    assert _codes(pinned, _plan(pinned, [0, 2, 1, 1])) == {ViolationCode.PINNED}
    marked = dataclasses.replace(model, marked=np.array([False, False, True]))
    assert ViolationCode.MARKED_TARGET in _codes(marked, _plan(marked, [0, 2, 1, 1]))


def test_a_resource_may_not_be_exceeded_by_a_move_but_may_stay_exceeded(model):
    memory = Resource(name="memory", use=np.full(4, 10.0), limit=np.array([15.0, 50.0, 5.0]))
    tight = dataclasses.replace(model, resources=(memory,))
    assert _codes(tight, _plan(tight, [0, 2, 1, 1])) == {ViolationCode.RESOURCE}
    assert _codes(tight, _plan(tight, [0, 0, 1, 1])) == set()


def test_worse_than_hold_unless_it_drains_or_collocates(model):
    assert _codes(model, _plan(model, [0, 0, 0, 0])) == {ViolationCode.WORSE_THAN_HOLD}
    near = dataclasses.replace(model, load=np.array([1.0, 20.0, 1.0, 20.0]), node_of=np.array([0, 1, 1, 0]))
    assert measures.load_distance(near, near.node_of) == pytest.approx(14.0)
    collocated = _plan(near, [1, 1, 1, 0])
    assert _codes(near, collocated) == set() or collocated.after.load_distance > PARAMS.max_load_distance
    even = dataclasses.replace(model, node_of=np.array([0, 1, 2, 1]), marked=np.array([False, False, True]))
    assert _codes(even, _plan(even, [0, 1, 1, 1])) == set()


@pytest.mark.parametrize(
    "field", ["load_distance", "load_index", "mean", "max_load", "marked_groups", "collocation_factor"]
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_claims(model, field, when):
    plan = _plan(model, [0, 2, 1, 1])
    wrong = dataclasses.replace(getattr(plan, when), **{field: getattr(getattr(plan, when), field) + 1})
    assert _codes(model, dataclasses.replace(plan, **{when: wrong})) == {ViolationCode.EFFECT}


def test_a_bound_above_what_is_reached(model):
    plan = dataclasses.replace(_plan(model, [0, 2, 1, 1]), lower_bound=50.0)
    assert _codes(model, plan) == {ViolationCode.BOUND}


def test_the_judge_knows_every_field_of_an_effect(model):
    # What chance adds is an integral; it is held against drawing in batch/test_predict.py.
    fields = {field.name for field in dataclasses.fields(measures.effect(model, model.node_of))} - {"noise_s"}
    assert facts.recomputed(model, model.node_of).keys() == fields


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("name", ["traffic", "traffic_out", "load_series", "traffic_load_ratio"])
def test_amounts_that_are_none_are_refused_by_name(model, name, bad):
    values = {
        "traffic": sparse.csr_array(np.diag([1.0, 1.0, 1.0, bad])),
        "traffic_out": np.array([1.0, 1.0, 1.0, bad]),
        "load_series": np.full((3, 4), bad),
        "traffic_load_ratio": bad,
    }
    with pytest.raises(ValueError, match=f"^{name}: every value must be a finite number of 0 or more"):
        dataclasses.replace(model, **{name: values[name]})


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("name", ["work_s", "longest_s"])
def test_stages_without_key_groups_that_cannot_be_are_refused(name, bad):
    nothing = np.zeros(0)
    stage = dataclasses.replace(FreeStage(work_s=1.0, longest_s=0.5), **{name: bad})
    with pytest.raises(ValueError, match="free_stages: "):
        BatchShape(
            level=np.zeros(0, dtype=np.int64),
            task_s=nothing,
            spread_s=nothing,
            slots=np.ones(1, dtype=np.int64),
            speed=np.ones(1),
            free_stages=(stage,),
        )


@pytest.mark.parametrize(
    ("use", "limit", "sentence"),
    [
        (np.ones(3), np.ones(3), r"resources: use of memory: shape \(3,\) given, \(4,\) is needed"),
        (np.ones(4), np.ones(2), r"resources: limit of memory: shape \(2,\) given, \(3,\) is needed"),
        (np.full(4, -1.0), np.ones(3), "resources: use of memory: every value must be a finite number of 0 or more"),
        (
            np.ones(4),
            np.full(3, np.inf),
            "resources: limit of memory: every value must be a finite number of 0 or more",
        ),
    ],
)
def test_resources_that_cannot_be_are_refused_by_name(model, use, limit, sentence):
    with pytest.raises(ValueError, match=sentence):
        dataclasses.replace(model, resources=(Resource(name="memory", use=use, limit=limit),))
