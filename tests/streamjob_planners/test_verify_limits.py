"""The judge at the edges: what just passes, what just does not, and what a person is told."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import plans
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import Budget, Objective, PlanParams, Resource
from streamjob_planners.verify import ViolationCode, verify

PARAMS = PlanParams()


def _plan(model, node_of):
    return plans.make_plan(model, np.array(node_of), planner="test", elapsed_s=0.0)


def _found(model, plan, params=PARAMS):
    return [(one.code, one.sentence) for one in verify(model, plan, params)]


@pytest.fixture
def model(small_model):
    """Loads 10 and 20 on n0 and on n1, n2 is empty."""
    return small_model([0, 0, 1, 1], [10.0, 20.0, 10.0, 20.0], n_nodes=3)


def _batches(model, task_s, **changes):
    """The model with one level of tasks, one slot on each node; changes are of the shape."""
    n_nodes = len(model.node_ids)
    fields = {
        "level": np.zeros(len(task_s), dtype=np.int64),
        "task_s": np.array(task_s),
        "spread_s": np.zeros(len(task_s)),
        "slots": np.ones(n_nodes, dtype=np.int64),
        "speed": np.ones(n_nodes),
    }
    return dataclasses.replace(model, batch=BatchShape(**{**fields, **changes}))


@pytest.mark.parametrize(
    ("node_of", "sentence"),
    [
        ([0, 2, 1], "node_of has shape (3,), one node per key group is needed."),
        ([0.0, 2.0, 1.0, 1.0], "node_of has shape (4,), one node per key group is needed."),
        ([0, 3, 1, 1], "node_of names a node outside 0 to 2."),
        ([0, -1, 1, 1], "node_of names a node outside 0 to 2."),
    ],
)
def test_a_placement_of_another_shape_is_the_only_thing_told(model, node_of, sentence):
    bad = dataclasses.replace(_plan(model, [0, 2, 1, 1]), node_of=np.array(node_of), lower_bound=1e9)
    assert _found(model, bad) == [(ViolationCode.SHAPE, sentence)]


def test_all_that_is_wrong_is_told_not_the_first_thing_alone(model):
    params = PlanParams(budget=Budget(max_migrations=0, max_cost_s=0.5))
    codes = [code for code, _ in _found(model, dataclasses.replace(_plan(model, [0, 2, 1, 1]), moves=()), params)]
    assert codes == [ViolationCode.MOVES, ViolationCode.BUDGET_COST, ViolationCode.BUDGET_MIGRATIONS]


def test_a_move_that_is_missing_is_told_with_its_key_group(model):
    bad = dataclasses.replace(_plan(model, [0, 2, 1, 1]), moves=())
    assert _found(model, bad) == [(ViolationCode.MOVES, "The moves do not lead to node_of; see groups [1].")]


def test_no_more_than_three_key_groups_are_named(small_model):
    model = small_model([0] * 5, [1.0] * 5, n_nodes=2)
    bad = dataclasses.replace(_plan(model, [0, 1, 1, 1, 1]), moves=())
    assert _found(model, bad)[0][1].endswith("see groups [1, 2, 3].")


def test_a_move_told_twice_is_told(model):
    good = _plan(model, [0, 2, 1, 1])
    twice = dataclasses.replace(good, moves=tuple(good.moves) * 2)
    assert _found(model, twice) == [(ViolationCode.MOVES, "A key group is moved more than once.")]


def test_a_move_of_a_group_that_stays_hides_no_other_mistake(model):
    good = _plan(model, [0, 2, 1, 1])
    phantom = dataclasses.replace(good.moves[0], group=0)
    dearer = dataclasses.replace(good.moves[0], cost_s=9.0)
    sentences = [sentence for _, sentence in _found(model, dataclasses.replace(good, moves=(phantom, dearer)))]
    assert sentences == [
        "The moves do not lead to node_of; see groups [0].",
        "The move of group 1 states a wrong cost, size or load.",
    ]


@pytest.mark.parametrize("field", ["cost_s", "state_bytes", "load"])
def test_a_move_with_one_wrong_figure_is_told(model, field):
    good = _plan(model, [0, 2, 1, 1])
    wrong = dataclasses.replace(good.moves[0], **{field: getattr(good.moves[0], field) + 1})
    found = _found(model, dataclasses.replace(good, moves=(wrong,)))
    assert found == [(ViolationCode.MOVES, "The move of group 1 states a wrong cost, size or load.")]


@pytest.mark.parametrize(
    ("field", "used", "sentence"),
    [
        ("max_cost_s", 1.0, "The moves take 1 seconds of pause, the budget is 0.99."),
        ("max_migrations", 1, "The moves take 1 moves, the budget is 0.99."),
        ("max_state_bytes", 100.0, "The moves take 100 bytes of state, the budget is 99.99."),
    ],
)
def test_a_budget_may_be_used_up_by_what_moves_and_no_more(model, field, used, sentence):
    plan = _plan(model, [0, 2, 1, 1])
    assert _found(model, plan, PlanParams(budget=Budget(**{field: used}))) == []
    short = Budget(**{field: used - 0.01})
    assert [told for _, told in _found(model, plan, PlanParams(budget=short))] == [sentence]


def test_each_pinned_group_that_moves_and_each_target_that_leaves_is_told(model):
    tied = dataclasses.replace(
        model, pinned=np.array([True, True, False, False]), marked=np.array([False, False, True])
    )
    sentences = [sentence for _, sentence in _found(tied, _plan(tied, [2, 2, 1, 1]))]
    assert sentences[:4] == [
        "Group 0 is pinned but moves to n2.",
        "Group 0 moves to n2, which is to be removed.",
        "Group 1 is pinned but moves to n2.",
        "Group 1 moves to n2, which is to be removed.",
    ]


def test_a_resource_may_be_used_up_and_no_more(model):
    def limited(limit):
        memory = Resource(name="memory", use=np.full(4, 10.0), limit=np.array([50.0, 50.0, limit]))
        return dataclasses.replace(model, resources=(memory,))

    plan = _plan(model, [0, 2, 1, 1])
    assert _found(limited(10.0), plan) == []
    told = "n2 would hold 10 of memory, its limit is 9.99."
    assert _found(limited(9.99), plan) == [(ViolationCode.RESOURCE, told)]


def test_an_executor_without_any_room_may_hold_nothing(model):
    memory = Resource(name="memory", use=np.full(4, 10.0), limit=np.array([50.0, 50.0, 0.0]))
    assert _found(dataclasses.replace(model, resources=(memory,)), _plan(model, [0, 0, 1, 1])) == []


def test_an_executor_above_its_limit_may_not_take_more(model):
    memory = Resource(name="memory", use=np.full(4, 10.0), limit=np.array([15.0, 50.0, 5.0]))
    tight = dataclasses.replace(model, resources=(memory,), load=np.array([10.0, 20.0, 10.0, 60.0]))
    told = "n0 would hold 30 of memory, its limit is 15."
    assert (ViolationCode.RESOURCE, told) in _found(tight, _plan(tight, [0, 0, 0, 1]))


def test_a_second_resource_counts_as_the_first(model):
    plenty = Resource(name="disk", use=np.full(4, 1.0), limit=np.full(3, 100.0))
    memory = Resource(name="memory", use=np.full(4, 10.0), limit=np.array([50.0, 50.0, 5.0]))
    tight = dataclasses.replace(model, resources=(plenty, memory))
    assert [code for code, _ in _found(tight, _plan(tight, [0, 2, 1, 1]))] == [ViolationCode.RESOURCE]


def test_a_rise_of_the_load_distance_is_told_in_points(model):
    sentence = "The load distance would rise from 20.000 to 40.000 points and nothing else would be won."
    assert _found(model, _plan(model, [0, 0, 0, 0])) == [(ViolationCode.WORSE_THAN_HOLD, sentence)]


def test_as_good_as_before_is_no_harm(small_model):
    model = small_model([0, 1], [10.0, 10.0], n_nodes=2)
    assert _found(model, _plan(model, [1, 0])) == []


@pytest.mark.parametrize(("limit", "codes"), [(5.0, []), (4.999, [ViolationCode.WORSE_THAN_HOLD])])
def test_local_traffic_may_cost_load_distance_up_to_its_limit(small_model, limit, codes):
    model = small_model([0, 1], [5.0, 5.0], {(0, 1): 1e6}, n_nodes=2)  # together they are 5 points from the mean
    found = _found(model, _plan(model, [0, 0]), PlanParams(max_load_distance=limit))
    assert [code for code, _ in found] == codes


def test_load_distance_is_no_price_for_traffic_that_was_local_before(small_model):
    model = small_model([0, 0, 1], [5.0, 5.0, 10.0], {(0, 1): 1e6}, n_nodes=2)
    found = _found(model, _plan(model, [0, 0, 0]), PlanParams(max_load_distance=50.0))
    assert [code for code, _ in found] == [ViolationCode.WORSE_THAN_HOLD]


@pytest.mark.parametrize(("node_of", "codes"), [([0, 1, 0], []), ([0, 0, 2], [ViolationCode.WORSE_THAN_HOLD])])
def test_a_plan_may_get_worse_to_empty_an_executor_and_not_beside_one(small_model, node_of, codes):
    model = small_model([0, 1, 2], [20.0, 10.0, 10.0], n_nodes=3, marked=np.array([False, False, True]))
    assert [code for code, _ in _found(model, _plan(model, node_of))] == codes


def test_a_longer_batch_is_told_in_seconds(model):
    timed = _batches(model, [1.0, 2.0, 1.0, 2.0], fixed_s=0.5)
    sentence = "A batch would rise from 3.500 to 5.500 s and nothing else would be won."
    assert (ViolationCode.WORSE_THAN_HOLD, sentence) in _found(timed, _plan(timed, [0, 0, 1, 0]))


def test_a_batch_of_the_same_length_may_not_leave_executors_less_even(small_model):
    model = _batches(small_model([0, 1, 1, 2], [1.0] * 4, n_nodes=3), [4.0, 1.0, 1.0, 2.0])
    worse = [code for code, _ in _found(model, _plan(model, [0, 2, 2, 2]))]
    assert worse == [ViolationCode.WORSE_THAN_HOLD]
    sentence = _found(model, _plan(model, [0, 2, 2, 2]))[0][1]
    assert sentence.startswith("The root mean square of the executors' seconds would rise from ")


def test_tasks_that_take_no_time_make_no_batch_longer(model):
    timed = _batches(model, [0.0, 0.0, 0.0, 0.0])
    assert _found(timed, _plan(timed, [0, 0, 0, 1])) == []


def test_a_shorter_batch_may_leave_the_load_distance_worse(model):
    timed = _batches(model, [3.0, 3.0, 1.0, 1.0])
    farther = _plan(timed, [0, 1, 1, 1])
    assert farther.after.load_distance > farther.before.load_distance
    assert _found(timed, farther) == []
    by_distance = PlanParams(objective=Objective.LOAD_DISTANCE)
    assert [code for code, _ in _found(timed, farther, by_distance)] == [ViolationCode.WORSE_THAN_HOLD]


def test_a_figure_that_is_claimed_though_nothing_tells_it_is_told(model):
    plan = _plan(model, [0, 2, 1, 1])
    wrong = dataclasses.replace(plan, after=dataclasses.replace(plan.after, batch_s=1.0))
    assert _found(model, wrong) == [(ViolationCode.EFFECT, "batch_s after is claimed to be 1.0, it is None.")]


def test_a_figure_that_is_not_claimed_though_it_is_known_is_told(model):
    timed = _batches(model, [1.0, 2.0, 1.0, 2.0])
    plan = _plan(timed, [0, 2, 1, 1])
    wrong = dataclasses.replace(plan, before=dataclasses.replace(plan.before, batch_s=None))
    assert _found(timed, wrong) == [(ViolationCode.EFFECT, "batch_s before is claimed to be None, it is 3.0.")]


@pytest.mark.parametrize(("bound", "told"), [(10.0, False), (10.001, True)])
def test_a_lower_bound_may_be_reached(model, bound, told):
    plan = dataclasses.replace(_plan(model, [0, 2, 1, 1]), lower_bound=bound)
    sentence = f"The lower bound {bound:.6f} is above the load distance 10.000000 that is reached."
    assert _found(model, plan) == ([(ViolationCode.BOUND, sentence)] if told else [])


@pytest.mark.parametrize(("bound_s", "told"), [(3.0, False), (3.001, True)])
def test_a_lower_bound_of_the_batch_may_be_reached(model, bound_s, told):
    timed = _batches(model, [1.0, 2.0, 1.0, 2.0])
    plan = dataclasses.replace(_plan(timed, [0, 2, 1, 1]), batch_bound_s=bound_s)
    sentence = f"The lower bound {bound_s:.6f} s is above the batch of 3.000000 s that is reached."
    assert _found(timed, plan) == ([(ViolationCode.BOUND, sentence)] if told else [])


def test_a_lower_bound_of_nothing_may_be_a_rounding_above_it(small_model):
    model = small_model([0, 0], [10.0, 10.0], n_nodes=2)
    even = _plan(model, [0, 1])
    for rounding in (1e-9, 1e-6):
        assert _found(model, dataclasses.replace(even, lower_bound=rounding)) == []
    assert [code for code, _ in _found(model, dataclasses.replace(even, lower_bound=1e-3))] == [ViolationCode.BOUND]


@pytest.mark.parametrize(("task_s", "bound_s"), [(0.0, 1e-6), (0.1, 0.1)])
def test_a_lower_bound_of_a_short_batch_may_be_reached_and_be_a_rounding_above_it(model, task_s, bound_s):
    timed = _batches(model, [task_s, 0.0, task_s, 0.0])
    assert _found(timed, dataclasses.replace(_plan(timed, [0, 0, 1, 1]), batch_bound_s=bound_s)) == []


def test_a_bound_of_the_batch_without_batches_says_nothing(model):
    assert _found(model, dataclasses.replace(_plan(model, [0, 2, 1, 1]), batch_bound_s=1.0)) == []
