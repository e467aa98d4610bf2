"""What moves are made for: who leaves first, then seconds or points, then collocation that saves what it costs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from small_models import flags, moved, placed, timed

from streamjob_operator.spec import Balancing, Collocation
from streamjob_operator.steps.worth import by_time, drains_only, fills_only, worth
from streamjob_operator.values import Reason
from streamjob_planners import traffic
from streamjob_planners.model import LoadModel, Objective, PlanParams, Resource
from streamjob_planners.verify import verify

BY_DISTANCE = Balancing(objective=Objective.LOAD_DISTANCE)
JOINED = [0, 1, 0, 1]


def collocating(**fields: object) -> Balancing:
    return Balancing(objective=Objective.LOAD_DISTANCE, collocation=Collocation.model_validate(fields))


def talking(model: LoadModel, local: float = 0.0) -> LoadModel:
    """Key group 0 talks to 2 and 1 to 3, so many percent of it all to their neighbours on the same executor."""
    pairs = np.zeros((4, 4))
    pairs[0, 2] = pairs[1, 3] = (100.0 - local) / 2
    pairs[0, 1] = local
    return dataclasses.replace(model, traffic=sparse.csr_array(100.0 * pairs))


def even() -> LoadModel:
    return talking(placed([20.0] * 4, [0, 0, 1, 1]))


def test_who_leaves_is_counted_and_goes_before_all_else() -> None:
    model = placed([20.0] * 6, [0, 0, 1, 2, 2, 2], nodes=3, marked=flags(3, 2))
    found = worth(model, moved(model, [0, 0, 1, 0, 1, 2]), BY_DISTANCE)
    assert (found.act, found.reason) == (True, Reason.DRAINING)
    assert found.message == "2 of 3 key groups leave executors that go."


def test_seconds_decide_where_batches_are_predicted_and_they_are_the_objective() -> None:
    uneven = timed([2.0, 2.0, 1.0], [0, 0, 1])
    assert worth(uneven, moved(uneven, [0, 1, 1]), Balancing()).reason is Reason.BATCH_TIME
    assert worth(uneven, moved(uneven, [0, 1, 1]), BY_DISTANCE).reason is Reason.LOAD_DISTANCE
    unknown = dataclasses.replace(uneven, batch=None)
    assert worth(unknown, moved(unknown, [0, 1, 1]), Balancing()).reason is Reason.LOAD_DISTANCE
    assert [by_time(uneven, Balancing()), by_time(uneven, BY_DISTANCE), by_time(unknown, Balancing())] == [
        True,
        False,
        False,
    ]


def swinging() -> LoadModel:
    """As much load on either executor, but each of them has all of it in every second batch."""
    turn = np.where((np.arange(24)[:, None] % 2 == 0) == (np.arange(4) < 2), 1.8, 0.2)
    return dataclasses.replace(timed([1.0] * 4, [0, 0, 1, 1]), load_series=10.0 * turn)


def test_what_swings_is_looked_at_by_seconds_alone() -> None:
    plan = moved(swinging(), JOINED)
    found = worth(swinging(), plan, Balancing())
    assert (found.act, found.reason) == (True, Reason.BATCH_TIME)
    assert found.message.startswith("Loads swing from batch to batch")
    assert worth(swinging(), plan, BY_DISTANCE).reason is Reason.BALANCED


def test_collocation_that_pays_is_made_and_said() -> None:
    found = worth(even(), moved(even(), JOINED), BY_DISTANCE)
    assert (found.act, found.reason) == (True, Reason.COLLOCATION)
    assert found.message == "Collocation from 0.0 to 100.0 percent."


def test_collocation_is_no_goal_where_it_is_turned_off() -> None:
    assert worth(even(), moved(even(), JOINED), collocating(enabled=False)).reason is Reason.BALANCED


def test_without_traffic_nothing_collocates() -> None:
    silent = dataclasses.replace(even(), traffic=None)
    assert worth(silent, moved(silent, JOINED), collocating(minGain=0)).reason is Reason.BALANCED


@pytest.mark.parametrize(("least", "reason"), [(50.0, Reason.COLLOCATION), (50.5, Reason.BALANCED)])
def test_collocation_must_gain_as_much_as_is_asked_for(least: float, reason: Reason) -> None:
    model = talking(placed([20.0] * 4, [0, 0, 1, 1]), local=25.0)  # joined: 75 percent
    assert worth(model, moved(model, JOINED), collocating(minGain=least)).reason is reason


def test_no_moves_collocate_nothing() -> None:
    assert worth(even(), moved(even(), [0, 0, 1, 1]), collocating(minGain=0)).reason is Reason.BALANCED


@pytest.mark.parametrize(("uneven", "reason"), [(10.0, Reason.COLLOCATION), (10.5, Reason.BALANCED)])
def test_for_collocation_loads_may_get_as_uneven_as_is_tolerated(uneven: float, reason: Reason) -> None:
    half = uneven / 2
    model = talking(placed([20.0 + half, 20.0 - half, 20.0 + half, 20.0 - half], [0, 0, 1, 1]))
    assert worth(model, moved(model, JOINED), BY_DISTANCE).reason is reason


def test_for_collocation_loads_may_stay_as_uneven_as_they_are() -> None:
    model = talking(placed([30.0, 30.0, 10.0, 10.0], [0, 0, 1, 1]))
    assert worth(model, moved(model, [1, 1, 1, 1]), BY_DISTANCE).reason is not Reason.COLLOCATION
    assert worth(model, moved(model, [0, 0, 0, 0]), BY_DISTANCE).reason is not Reason.COLLOCATION
    uneven = talking(placed([30.0, 30.0, 10.0, 10.0], [0, 1, 1, 0], nodes=3))
    assert worth(uneven, moved(uneven, [0, 1, 0, 1], notes=()), BY_DISTANCE).reason is Reason.COLLOCATION


def costing(model: LoadModel, share: float, within_s: float) -> LoadModel:
    """Moves that cost this many times what being together saves in that time."""
    saved_s = traffic.saved_s(model, np.array(JOINED), within_s)
    return dataclasses.replace(model, migration_cost_s=np.full(4, share * saved_s / 2))


@pytest.mark.parametrize(("share", "act"), [(1.0, True), (1.25, False)])
def test_collocation_must_save_within_an_hour_what_it_costs(share: float, act: bool) -> None:
    model = costing(even(), share, 3600.0)
    found = worth(model, moved(model, JOINED), BY_DISTANCE)
    assert (found.act, found.reason) == (act, Reason.COLLOCATION if act else Reason.GAIN_TOO_SMALL)


def test_by_seconds_it_must_save_that_within_the_batches_in_which_moves_have_to_pay() -> None:
    patient = Balancing.model_validate({"payback": 20})
    timed_even = talking(timed([1.0] * 4, [0, 0, 1, 1]))
    model = costing(timed_even, 0.75, 20 * 2.0)
    assert worth(model, moved(model, JOINED), patient).act
    assert worth(model, moved(model, JOINED), Balancing()).reason is Reason.GAIN_TOO_SMALL


def test_those_are_batches_as_they_are_today() -> None:
    shorter = talking(timed([1.0, 1.0, 0.985, 0.985], [0, 0, 1, 1]))  # too little shorter by the plan to be made for it
    model = costing(shorter, 1.0, 10 * 2.0)
    assert worth(model, moved(model, JOINED), Balancing()).reason is Reason.COLLOCATION


def test_what_collocation_would_save_and_cost_is_said() -> None:
    model = dataclasses.replace(even(), migration_cost_s=np.full(4, 3.0))
    found = worth(model, moved(model, JOINED), BY_DISTANCE)
    assert found.message == (
        "Collocation from 0.0 to 100.0 percent would save 3.6 s of work within 3600 s; its 2 moves cost 6 s."
    )


def test_where_only_drains_may_go_on_all_others_stay() -> None:
    model = placed([20.0] * 4, [0, 1, 2, 2], nodes=3, marked=flags(3, 2))
    plan = moved(model, [1, 0, 0, 1], planner="albic", elapsed_s=0.5, notes=("One.",))
    drains = drains_only(model, plan)
    assert drains.node_of.tolist() == [0, 1, 0, 1]
    assert (drains.planner, drains.elapsed_s, drains.notes[0]) == ("albic", 0.5, "One.")


def test_drains_alone_keep_limits_though_others_were_to_make_room_for_them() -> None:
    """Key group 3 was to take the place of 1, which stays: it goes where there is room, or nowhere."""
    memory = Resource(name="memory", use=np.array([1.0, 6.0, 3.0, 5.0]), limit=np.array([8.0, 10.0, 8.0, 10.0]))
    model = placed([20.0, 20.0, 30.0, 20.0], [0, 1, 2, 3], nodes=4, marked=flags(4, 3))
    model = dataclasses.replace(model, resources=(memory,))
    plan = moved(model, [0, 0, 2, 1])
    params = PlanParams(objective=Objective.LOAD_DISTANCE)
    assert verify(model, plan, params) == ()
    drains = drains_only(model, plan)
    assert drains.node_of.tolist() == [0, 1, 2, 0]
    assert verify(model, drains, params) == ()
    full = dataclasses.replace(model, resources=(dataclasses.replace(memory, limit=np.array([3.0, 10.0, 7.0, 10.0])),))
    assert drains_only(full, plan).moves == ()


@pytest.mark.parametrize(("saved_part", "act"), [(0.9, True), (0.1, False)])
def test_by_time_collocation_is_made_where_what_it_saves_makes_batches_shorter(saved_part: float, act: bool) -> None:
    """Key group 0 joins 1 on the busier executor: five seconds there as measured, less what is no longer remote."""
    pairs = np.zeros((3, 3))
    pairs[0, 1] = 100.0
    model = timed([2.0, 2.0, 1.0], [0, 1, 1])
    ratio = saved_part * float(model.load[0]) / 100.0
    model = dataclasses.replace(model, traffic=sparse.csr_array(pairs), traffic_load_ratio=ratio)
    found = worth(model, moved(model, [1, 1, 1]), Balancing())
    assert found.act is act
    assert (found.reason is Reason.COLLOCATION) is act


def test_of_a_plan_that_fills_only_what_goes_to_an_empty_executor_or_leaves_a_marked_one_is_kept() -> None:
    model = placed([10.0] * 5, [0, 0, 0, 2, 3], nodes=4, marked=flags(4, 2))
    fills = fills_only(model, moved(model, [0, 1, 3, 0, 3]))
    assert fills.node_of.tolist() == [0, 1, 0, 0, 3]
