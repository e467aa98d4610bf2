"""The gate on cases made by hand: what shuts it, what opens it, and which of two reasons is told."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_models import flags, moved, placed, timed
from worlds import even, job

from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.approved import judge
from streamjob_operator.steps.arrivals import Coming
from streamjob_operator.steps.case import Case
from streamjob_operator.steps.gate import gate
from streamjob_operator.steps.resize import Resized
from streamjob_operator.steps.worth_time import Standing
from streamjob_operator.values import Memory, PendingPlan, QueryPart, Reason, ScalingDecision, Snapshot, Verdict
from streamjob_planners import what_if
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.batch.learned import Learned
from streamjob_planners.capacity.pace import Pace
from streamjob_planners.model import LoadModel
from streamjob_planners.verify import Violation, ViolationCode

PLAIN = "mode: Auto\n    planner"
RECOMMEND, STILL, ASK = ((PLAIN, f"mode: {mode}\n    planner") for mode in ("Recommend", "'Off'", "Approve"))
SCALING = "scaling: {mode: Auto"
UNSCALED, ADVISED, ASKED = ((SCALING, f"scaling: {{mode: {mode}") for mode in ("'Off'", "Recommend", "Approve"))
WINDOW = ("executorTimeout: 60s}", 'executorTimeout: 60s, windows: [{cron: "* * * * *", duration: 1m, deny: [Move]}]}')
AUTO = job()

UNEVEN = placed([20.0, 20.0, 20.0, 5.0], [0, 0, 0, 1])  # 60 and 5 points
LEVEL = [0, 0, 1, 1]
BETTER = "Load distance from 27.5 to 7.5 with 1 move."
EVEN = placed([20.0, 20.0, 20.0, 20.0], [0, 0, 1, 1])
FINE = "Load distance 0.0, up to 10 is tolerated."

SEEN = dataclasses.replace(even(2, 2, 10.0).observe(1000.0, 10.0), generation_applied=4)
MEMORY = Memory(application_id="app-1", executors_target=2, generation=4, acted_at_s=900.0)


def decided(reason: Reason = Reason.BALANCED, target: int = 2, *, told: bool = False) -> ScalingDecision:
    return ScalingDecision(needed=target, target=target, reason=reason, message="A test.", told=told)


def planned(model: LoadModel = UNEVEN, node_of: list[int] = LEVEL, **changes: object) -> Resized:
    plain = Resized(model=model, plan=moved(model, node_of), decision=decided(), wanted=2, marked=())
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def case(resized: Resized | None = None, of: StreamJob = AUTO, **changes: object) -> Case:
    plain = Case(
        job=of, snapshot=SEEN, memory=MEMORY, resized=resized or planned(), remove=(), violations=(), now_s=1000.0
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def seen(**changes: object) -> Snapshot:
    return dataclasses.replace(SEEN, **changes)  # type: ignore[arg-type]


def remembered(**changes: object) -> Memory:
    return dataclasses.replace(MEMORY, **changes)  # type: ignore[arg-type]


def told(verdict: Verdict) -> tuple[bool, Reason, str]:
    return verdict.act, verdict.reason, verdict.message


def groups_moved(verdict: Verdict) -> list[int] | None:
    return None if verdict.plan is None else sorted(move.group for move in verdict.plan.moves)


STAYS = planned(EVEN, [0, 0, 1, 1])
GROWS = {"decision": decided(Reason.SCALE_OUT, 3), "wanted": 3}


def test_a_plan_that_is_worth_it_is_carried_out() -> None:
    verdict = gate(case())
    assert told(verdict) == (True, Reason.LOAD_DISTANCE, BETTER)
    assert (verdict.executors_target, verdict.marked_for_removal, verdict.remove) == (2, (), ())
    assert (groups_moved(verdict), verdict.arrivals, verdict.next_start) == ([2], None, None)
    assert (verdict.boundary_s, verdict.boundaries_s) == (3600.0, {})
    assert verdict.move_cost_s == (0.0,)


def test_what_the_agent_refused_after_it_was_written_is_told_again() -> None:
    """As on a cluster, where the answer comes after the cycle: nobody else would ask for the executors."""
    waits = dataclasses.replace(STAYS, decision=decided(Reason.WAITING_FOR_EXECUTORS, 3), wanted=3)
    written = remembered(generation=5, executors_target=3)
    verdict = gate(case(waits, snapshot=seen(refused=True), memory=written))
    again = "A test. The agent has refused what was asked of it last, so it is asked again."
    assert told(verdict) == (True, Reason.WAITING_FOR_EXECUTORS, again)
    assert (verdict.executors_target, groups_moved(verdict)) == (3, [])
    under_way = gate(case(waits, snapshot=SEEN, memory=written))
    known = gate(case(waits, snapshot=seen(refused=True), memory=remembered(executors_target=3)))
    assert (under_way.act, known.act) == (False, False)


def test_a_driver_that_finds_the_plan_of_the_one_before_it_is_asked_itself() -> None:
    waits = dataclasses.replace(STAYS, decision=decided(Reason.WAITING_FOR_EXECUTORS, 3), wanted=3)
    of_another = dataclasses.replace(remembered(generation=5, executors_target=3), first_seen_s=950.0)
    first = "A test. This driver has not been asked for the others yet, so it is asked now."
    verdict = gate(case(waits, snapshot=seen(refused=True), memory=of_another))
    assert told(verdict) == (True, Reason.WAITING_FOR_EXECUTORS, first)
    assert (verdict.executors_target, groups_moved(verdict)) == (3, [])
    nobody_scales = job(("scaling: {mode: Auto", "scaling: {mode: Recommend"))
    assert not gate(case(waits, nobody_scales, memory=of_another)).act


def test_a_plan_that_gains_nothing_is_not_and_says_what_scaling_thinks_too() -> None:
    verdict = gate(case(STAYS))
    assert told(verdict) == (False, Reason.BALANCED, f"A test. {FINE}")
    assert (verdict.executors_target, verdict.remove, verdict.pending) == (None, (), None)


@pytest.mark.parametrize(
    ("of", "changes", "reason", "message"),
    [
        (job(STILL, UNSCALED), {}, Reason.MODE_OFF, "Balancing and scaling are off."),
        (
            job(annotations={"streamjob.dev/pause": "true"}),
            {},
            Reason.PAUSED,
            "The job is paused by its annotation streamjob.dev/pause.",
        ),
        (
            AUTO,
            {"snapshot": seen(actuation_on=False, actuation_reason="SelfTestFailed")},
            Reason.ACTUATION_OFF,
            "The agent does not act: SelfTestFailed.",
        ),
    ],
)
def test_nothing_at_all_is_done_where_a_person_or_the_agent_says_so(
    of: StreamJob, changes: dict[str, object], reason: Reason, message: str
) -> None:
    verdict = gate(case(of=of, memory=remembered(marked=("1",)), remove=("1",), **changes))
    assert told(verdict) == (False, reason, message)
    assert (verdict.remove, verdict.marked_for_removal) == ((), ("1",))


def test_a_plan_that_breaks_rules_is_refused_and_who_is_empty_leaves_all_the_same() -> None:
    broken = (
        Violation(code=ViolationCode.MOVES, sentence="One."),
        Violation(code=ViolationCode.PINNED, sentence="Two."),
    )
    refused = gate(case(violations=broken))
    assert told(refused) == (False, Reason.PLAN_REFUSED, "The plan broke its rules: One. Two.")
    verdict = gate(case(violations=broken, memory=remembered(marked=("1",)), remove=("1", "9")))
    message = "Executor 1 is empty and leaves. The plan broke its rules: One. Two."
    assert told(verdict) == (True, Reason.EXECUTOR_REMOVED, message)
    assert verdict.remove == ("1",), "the other was never marked"


def test_moves_alone_may_be_off_or_scaling_alone() -> None:
    assert gate(case(of=job(UNSCALED))).act
    assert gate(case(of=job(UNSCALED))).executors_target is None
    grown = gate(case(planned(**GROWS), job(STILL)))
    assert told(grown) == (True, Reason.SCALE_OUT, "A test.")
    replicas = job(STILL, UNSCALED, ("max: 6}", "max: 6, replicas: 2}"))
    assert gate(case(STAYS, replicas)).reason is not Reason.MODE_OFF


@pytest.mark.parametrize(
    "reason", [Reason.QUOTA_BINDS, Reason.WINDOW_DENIES, Reason.EXECUTORS_TIMED_OUT, Reason.NOT_ENOUGH]
)
def test_executors_that_are_needed_and_not_asked_for_tell_more_than_moves_that_gain_too_little(reason: Reason) -> None:
    """The load distance of 27.5 stays, as no executor may come: that is what a person can do something about."""
    held = gate(case(planned(node_of=[0, 0, 0, 1], decision=decided(reason))))
    little = gate(case(planned(node_of=[0, 0, 0, 1])))
    assert (little.act, little.reason) == (False, Reason.GAIN_TOO_SMALL)
    assert told(held) == (False, reason, f"A test. {little.message}")


def test_in_a_window_without_moves_only_executors_change() -> None:
    closed = job(WINDOW)
    assert told(gate(case(of=closed))) == (False, Reason.WINDOW_DENIES, "Window '* * * * *' forbids moves.")
    verdict = gate(case(planned(**GROWS), closed))
    assert told(verdict) == (True, Reason.SCALE_OUT, "A test.")
    assert (verdict.plan, verdict.executors_target, verdict.arrivals) == (None, 3, None)


PENDING = seen(moves_pending=3)


def test_moves_under_way_are_waited_for() -> None:
    verdict = gate(case(snapshot=PENDING))
    assert told(verdict) == (False, Reason.MOVES_PENDING, "3 moves of generation 4 are pending.")
    assert gate(case(snapshot=seen(moves_pending=0))).act


@pytest.mark.parametrize(
    "changes",
    [
        {"memory": remembered(stirred_at_s=950.0)},
        {"changed_at_s": 950.0},
        {"resized": planned(placed([80.0, 20.0, 0.0, 20.0], [0, 0, 0, 1]), [0, 1, 0, 1])},
        {"resized": planned(placed([20.0, 20.0, 20.0, 5.0], [0, 0, 0, 1], nodes=3), [0, 0, 2, 1])},
    ],
    ids=["stirred", "changed", "overloaded", "a new executor"],
)
def test_moves_under_way_are_replaced_where_the_world_changed_or_it_is_urgent(changes: dict[str, object]) -> None:
    assert gate(case(**{"snapshot": PENDING, **changes})).act  # type: ignore[arg-type]


def test_a_full_executor_that_can_still_do_its_work_is_not_urgent() -> None:
    full = planned(placed([79.5, 20.0, 0.0, 20.0], [0, 0, 0, 1]), [0, 1, 0, 1])
    assert gate(case(full, snapshot=PENDING)).reason is Reason.MOVES_PENDING


def test_a_change_that_the_newest_assignment_knew_of_is_none() -> None:
    assert gate(case(snapshot=PENDING, memory=remembered(stirred_at_s=900.0))).reason is Reason.MOVES_PENDING
    assert gate(case(snapshot=PENDING, changed_at_s=899.0)).reason is Reason.MOVES_PENDING


def test_while_executors_take_their_share_nothing_is_so_urgent() -> None:
    full = planned(placed([80.0, 20.0, 0.0, 20.0], [0, 0, 0, 1]), [0, 1, 0, 1])
    assert gate(case(full, snapshot=PENDING, memory=remembered(filling=True))).reason is Reason.MOVES_PENDING
    verdict = gate(case(planned(**GROWS), snapshot=PENDING, memory=remembered(filling=True)))
    assert (verdict.reason, verdict.plan) == (Reason.SCALE_OUT, None), "the moves go on beside it"


def growing(now: list[int], later: list[int], model: LoadModel = UNEVEN, **changes: object) -> Resized:
    """One more executor is to come, node 2; `now` is possible without it."""
    extended = what_if.with_extra_nodes(model, 1)
    coming = Coming(model=extended, plan=moved(extended, later), executors=1)
    return planned(model, now, **{"coming": coming, **changes})


TO_COME = " The executor that is to come will own 1 key group."


def test_executors_that_are_asked_for_have_a_share_beside_what_is_moved_at_once() -> None:
    verdict = gate(case(growing([0, 0, 1, 1], [0, 2, 1, 1], **GROWS)))
    assert told(verdict) == (True, Reason.SCALE_OUT, f"A test.{TO_COME}")
    assert groups_moved(verdict) == [2]
    assert verdict.arrivals is not None
    assert (verdict.arrivals.groups, verdict.executors_target) == ((1,), 3)


def test_moves_that_are_not_worth_it_are_left_out_of_what_is_done_for_executors() -> None:
    small = placed([20.0, 20.0, 20.0, 20.0], [0, 0, 1, 1])
    verdict = gate(case(growing([1, 0, 0, 1], [2, 0, 1, 1], small, **GROWS)))
    assert (verdict.reason, groups_moved(verdict)) == (Reason.SCALE_OUT, [])
    assert verdict.arrivals is not None
    assert verdict.arrivals.groups == (0,)


def test_where_key_groups_may_not_move_executors_to_come_get_no_share() -> None:
    verdict = gate(case(growing([0, 0, 0, 1], [0, 0, 2, 1], **GROWS), job(RECOMMEND)))
    assert (verdict.reason, verdict.arrivals) == (Reason.SCALE_OUT, None)


def test_executors_that_are_waited_for_without_a_share_get_one() -> None:
    waiting = growing([0, 0, 0, 1], [0, 0, 2, 1])
    verdict = gate(case(waiting))
    assert told(verdict) == (True, Reason.FILLING, f"1 executor is to come.{TO_COME}")
    assert groups_moved(verdict) == []
    have_one = gate(case(waiting, memory=remembered(arrivals=1)))
    assert (have_one.act, have_one.reason) == (False, Reason.GAIN_TOO_SMALL)
    no_gain = placed([20.0, 20.0, 20.0, 20.0], [0, 0, 1, 1])
    assert not gate(case(growing([0, 0, 1, 1], [0, 0, 1, 1], no_gain))).act


NOISY = {"error_s": np.full(6, 1.0)}
HALF_EMPTY = timed([10.0, 4.0, 4.0, 1.0, 1.0, 1.0], [0, 1, 1, 1, 2, 2], nodes=4, **NOISY)


def test_a_plan_that_fills_makes_no_other_moves_that_may_be_noise() -> None:
    verdict = gate(case(planned(HALF_EMPTY, [0, 1, 3, 2, 2, 2])))
    assert told(verdict) == (
        True,
        Reason.FILLING,
        "1 key groups go to executors that had none: 3. Batches take 10.0 s.",
    )
    assert groups_moved(verdict) == [2]


def test_a_plan_that_fills_and_gains_more_than_noise_is_made_whole() -> None:
    sure = timed([10.0, 4.0, 4.0, 4.0, 1.0, 1.0], [0, 1, 1, 1, 2, 2], nodes=4)
    verdict = gate(case(planned(sure, [0, 1, 3, 2, 2, 2])))
    assert (verdict.reason, groups_moved(verdict)) == (Reason.BATCH_TIME, [2, 3])


def test_moves_that_make_the_room_to_fill_are_made_with_it() -> None:
    needs_both = timed([10.0, 6.0, 0.0, 1.0, 1.0, 6.0], [0, 1, 1, 1, 2, 3], nodes=5, **NOISY)
    verdict = gate(case(planned(needs_both, [0, 1, 4, 2, 2, 3])))
    assert (verdict.reason, groups_moved(verdict)) == (Reason.FILLING, [2, 3])


def test_moves_that_are_worth_it_themselves_are_told_as_such_beside_a_share() -> None:
    verdict = gate(case(growing([0, 0, 1, 1], [0, 2, 1, 1])))
    assert told(verdict) == (True, Reason.LOAD_DISTANCE, f"{BETTER}{TO_COME}")


def test_moves_under_way_are_replaced_for_executors_that_have_no_share_yet() -> None:
    waiting = growing([0, 0, 0, 1], [0, 0, 2, 1])
    assert gate(case(waiting, snapshot=PENDING)).act
    assert gate(case(waiting, snapshot=PENDING, memory=remembered(arrivals=1))).reason is Reason.MOVES_PENDING


def test_what_memory_keeps_back_is_told_where_nothing_is_done_for_it() -> None:
    verdict = gate(case(STAYS, kept_back="No room."))
    assert told(verdict) == (False, Reason.MEMORY_TOO_SMALL, f"{FINE} No room.")
    assert told(gate(case(kept_back="No room."))) == (True, gate(case()).reason, f"{BETTER} No room.")


def test_executors_of_another_speed_are_told() -> None:
    slow = Knowledge(paces={"1": Pace(speed=0.5)})
    verdict = gate(case(memory=remembered(batches=slow)))
    assert verdict.message == f"{BETTER} Executor 1 works at 0.5 of the others' speed (0.5 to 0.5)."


OFF = Knowledge(error_ratio=Learned(mean=0.65, weight=5.0))
DOUBT = " Predicted batches are off by 65 percent, so the load distance decides."


def test_predictions_that_are_off_are_told_where_they_would_decide() -> None:
    assert gate(case(memory=remembered(batches=OFF))).message == f"{BETTER}{DOUBT}"
    by_distance = job(("planner: greedy", "planner: greedy\n    objective: loadDistance"))
    assert gate(case(of=by_distance, memory=remembered(batches=OFF))).message == BETTER
    fine = Knowledge(error_ratio=Learned(mean=0.2, weight=5.0))
    assert gate(case(memory=remembered(batches=fine))).message == BETTER


def test_a_gain_below_what_predictions_have_been_off_by_is_left() -> None:
    uneven = planned(timed([1.06, 1.0, 1.0, 0.94], [0, 0, 1, 1]), [0, 1, 1, 0])
    assert gate(case(uneven)).act
    verdict = gate(case(uneven, standing=Standing(off=0.03)))
    assert (verdict.act, verdict.reason) == (False, Reason.GAIN_TOO_SMALL)
    assert "which have been off by 3.0 percent" in verdict.message


ASLEEP = seen(rates=dataclasses.replace(SEEN.rates, idle_since_s=990.0))
WAITS = "The query has waited for data for 10s."


def test_while_a_query_waits_for_data_only_drains_are_made() -> None:
    verdict = gate(case(snapshot=ASLEEP))
    assert told(verdict) == (False, Reason.IDLE, f"{WAITS} A test.")
    draining = planned(
        placed([20.0, 20.0, 20.0, 5.0], [0, 0, 0, 2], nodes=3, marked=flags(3, 2)), [0, 1, 0, 1], marked=("2",)
    )
    verdict = gate(case(draining, snapshot=ASLEEP, memory=remembered(marked=("2",))))
    message = "1 of 1 key groups leave executors that go. Their state is loaded by the next batch."
    assert told(verdict) == (True, Reason.DRAINING, message)
    assert (groups_moved(verdict), verdict.boundary_s, verdict.boundaries_s) == ([3], None, {})


def test_moves_that_wait_for_the_next_batch_of_an_idle_query_hold_nothing_up() -> None:
    asleep = dataclasses.replace(ASLEEP, moves_pending=3)
    assert gate(case(snapshot=asleep)).reason is Reason.IDLE


def test_what_scaling_says_of_an_idle_query_goes_first_where_it_says_more() -> None:
    held = planned(decision=decided(Reason.STABILIZING))
    assert told(gate(case(held, snapshot=ASLEEP))) == (False, Reason.STABILIZING, f"A test. {WAITS}")
    asked = planned(decision=decided(Reason.REPLICAS_SET))
    assert told(gate(case(asked, snapshot=ASLEEP))) == (False, Reason.IDLE, f"{WAITS} A test.")
    off = planned(decision=decided(Reason.MODE_OFF))
    assert told(gate(case(off, snapshot=ASLEEP))) == (False, Reason.IDLE, WAITS)


DRAINING = planned(
    placed([30.0, 20.0, 10.0, 5.0], [0, 0, 0, 2], nodes=3, marked=flags(3, 2)), [0, 1, 0, 1], marked=("2",)
)
MARKED = remembered(marked=("2",))


def test_drains_are_finished_where_balancing_only_recommends_or_is_off() -> None:
    for mode in (RECOMMEND, STILL):
        verdict = gate(case(DRAINING, job(mode), memory=MARKED, kept_back="What is not carried out has no room."))
        assert told(verdict) == (True, Reason.DRAINING, "1 of 1 key groups leave executors that go.")
        assert groups_moved(verdict) == [3]
        assert verdict.executors_target == 3, "two that are wanted, and one that drains"
    assert groups_moved(gate(case(DRAINING, memory=MARKED))) == [1, 3]


def test_what_is_worth_it_is_recommended_where_it_may_not_be_done() -> None:
    verdict = gate(case(of=job(RECOMMEND)))
    assert told(verdict) == (False, Reason.RECOMMENDED, f"Recommended: {BETTER}")
    assert groups_moved(verdict) == [2]
    assert told(gate(case(of=job(STILL)))) == (False, Reason.MODE_OFF, "Balancing is off.")
    assert gate(case(STAYS, job(STILL))).reason is Reason.BALANCED


ADVICE = {"decision": decided(Reason.SCALE_OUT, 3)}  # two are wanted, as scaling may not act


def test_executors_that_are_recommended_are_told_beside_moves_and_alone() -> None:
    of = job(ADVISED, RECOMMEND)
    both = gate(case(planned(**ADVICE), of))
    assert told(both) == (False, Reason.RECOMMENDED, f"Recommended: {BETTER} A test.")
    assert groups_moved(both) == [2]
    alone = gate(case(dataclasses.replace(STAYS, **ADVICE), of))
    assert told(alone) == (False, Reason.RECOMMENDED, "Recommended: A test.")
    assert groups_moved(alone) == []


def test_of_two_reasons_to_do_nothing_the_more_telling_is_told() -> None:
    of = job(ADVISED, RECOMMEND)
    closed = job(ADVISED, WINDOW)
    assert gate(case(planned(**ADVICE), closed)).reason is Reason.WINDOW_DENIES
    fewer = dataclasses.replace(STAYS, decision=decided(Reason.SCALE_IN, 1))
    assert told(gate(case(fewer, of))) == (False, Reason.RECOMMENDED, "Recommended: A test.")
    same = dataclasses.replace(STAYS, decision=decided(Reason.SCALE_IN, 2))
    assert told(gate(case(same, of))) == (False, Reason.SCALE_IN, f"A test. {FINE}")
    off = dataclasses.replace(STAYS, decision=decided(Reason.MODE_OFF))
    assert told(gate(case(off, job(UNSCALED)))) == (False, Reason.BALANCED, FINE)
    little = planned(placed([40.0, 0.25, 10.0, 5.0], [0, 0, 1, 1]), [0, 1, 1, 1])
    assert gate(case(little)).message.startswith("Load distance 12.6; 1 move would gain 0.2")


def plan_hash(of: Case) -> str:
    pending = gate(of).pending
    assert pending is not None
    return pending.plan_hash


def approved(of: Case, *changes: tuple[str, str], name: str | None = None) -> Case:
    """The case once its plan's hash, or that name, is in the annotation."""
    annotations = {"streamjob.dev/approve": name or plan_hash(of)}
    return dataclasses.replace(of, job=job(*changes, annotations=annotations))


def test_moves_wait_for_a_person_and_are_made_once_approved() -> None:
    asking = case(of=job(ASK))
    verdict = gate(asking)
    message = f"Plan {plan_hash(asking)} waits for approval: {BETTER}"
    assert told(verdict) == (False, Reason.AWAITING_APPROVAL, message)
    assert verdict.pending is not None
    assert (groups_moved(verdict), verdict.awaits, verdict.pending.moves) == ([2], False, {"0/2": ("0", "1")})
    memory = remembered(pending=verdict.pending)
    _, done = judge(dataclasses.replace(approved(asking, ASK), memory=memory))
    assert told(done) == (True, Reason.LOAD_DISTANCE, f"Approved. {BETTER}")
    assert (groups_moved(done), done.pending) == ([2], verdict.pending)


def test_another_approval_is_told_unless_it_is_the_one_that_was_carried_out() -> None:
    asking = approved(case(of=job(ASK)), ASK, name="0123456789ab")
    told_of = " The annotation streamjob.dev/approve names 0123456789ab, which is another plan: none that waits, nor "
    assert judge(asking)[1].message.endswith(f"{BETTER}{told_of}was replaced less than 15m ago.")
    done = dataclasses.replace(asking, memory=remembered(approved_plan="0123456789ab"))
    assert judge(done)[1].message.endswith(BETTER)


def test_drains_ask_nobody_and_other_moves_do() -> None:
    verdict = gate(case(planned(DRAINING.model, [0, 0, 0, 1], marked=("2",)), job(ASK), memory=MARKED))
    assert (verdict.act, verdict.reason, groups_moved(verdict)) == (True, Reason.DRAINING, [3])
    assert gate(case(DRAINING, job(ASK), memory=MARKED)).reason is Reason.AWAITING_APPROVAL


def test_executors_wait_for_a_person_unless_somebody_set_their_number() -> None:
    of = job(ASKED)
    verdict = gate(case(planned(**GROWS), of))
    assert (verdict.act, verdict.reason, verdict.executors_target) == (False, Reason.AWAITING_APPROVAL, 3)
    set_by_somebody = planned(decision=decided(Reason.SCALE_OUT, 3, told=True), wanted=3)
    assert gate(case(set_by_somebody, of)).act
    assert gate(case(of=of)).act, "nothing of executors changes"


def test_executors_wait_for_a_person_in_a_window_without_moves_too() -> None:
    verdict = gate(case(planned(**GROWS), job(ASKED, WINDOW)))
    message = "waits for approval: A test."
    assert (verdict.act, verdict.reason) == (False, Reason.AWAITING_APPROVAL)
    assert verdict.message.endswith(message)
    assert verdict.pending is not None
    assert verdict.pending.moves == {}


def test_executors_are_asked_for_while_the_moves_to_them_wait() -> None:
    verdict = gate(case(growing([0, 0, 1, 1], [0, 2, 1, 1], **GROWS), job(ASK)))
    assert (verdict.act, verdict.reason, verdict.plan, verdict.arrivals) == (True, Reason.SCALE_OUT, None, None)
    assert (verdict.executors_target, verdict.awaits) == (3, True)
    assert verdict.pending is not None
    assert verdict.pending.moves == {"0/2": ("0", "1"), "0/1": ("0", "extra-1")}
    assert verdict.message == f"Plan {verdict.pending.plan_hash} waits for approval: A test.{TO_COME}"


def test_a_scale_in_waits_with_its_moves() -> None:
    fewer = planned(decision=decided(Reason.SCALE_IN, 1), wanted=1, model=UNEVEN)
    verdict = gate(case(fewer, job(ASK)))
    assert (verdict.act, verdict.reason, verdict.awaits) == (False, Reason.AWAITING_APPROVAL, False)
    somebody = planned(decision=decided(Reason.SCALE_OUT, 3, told=True), wanted=3)
    assert gate(case(somebody, job(ASK, ADVISED, ("max: 6}", "max: 6, replicas: 3}")))).awaits


def waiting(**changes: object) -> PendingPlan:
    """The plan that moves key group 1, and not 2."""
    plain = PendingPlan(
        plan_hash="0123456789ab",
        made_at_s=1.0,
        application_id="app-1",
        moves={"0/1": ("0", "1")},
        executors_wanted=2,
        marked=(),
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def test_a_plan_that_waits_is_asked_about_again_in_place_of_a_new_one() -> None:
    verdict = gate(case(of=job(ASK), memory=remembered(pending=waiting())))
    assert (verdict.pending, groups_moved(verdict)) == (waiting(), [1])


@pytest.mark.parametrize(
    "changes",
    [
        {"application_id": "app-0"},
        {"executors_wanted": 3},
        {"marked": ("1",)},
        {"moves": {"0/1": ("1", "0")}},
        {"moves": {"0/3": ("1", "0")}},
    ],
    ids=["driver", "executors", "marks", "moved since", "breaks a rule"],
)
def test_a_plan_that_is_no_longer_possible_is_replaced(changes: dict[str, object]) -> None:
    verdict = gate(case(of=job(ASK), memory=remembered(pending=waiting(**changes))))
    assert verdict.pending is not None
    assert verdict.pending.plan_hash != "0123456789ab"
    assert groups_moved(verdict) == [2]


def test_a_plan_whose_part_to_come_breaks_a_rule_is_replaced_too() -> None:
    pinned = dataclasses.replace(UNEVEN, pinned=flags(4, 1))
    resized = growing([0, 0, 1, 1], [0, 0, 2, 1], pinned)
    pending = waiting(moves={"0/1": ("0", "extra-1")})
    verdict = gate(case(resized, job(ASK), memory=remembered(pending=pending)))
    assert verdict.pending is not None
    assert "0/1" not in verdict.pending.moves


def test_whoever_leaves_by_an_earlier_decision_is_nothing_to_ask_about() -> None:
    three = placed([20.0, 20.0, 20.0, 5.0], [0, 0, 0, 1], nodes=3, marked=flags(3, 2))
    of = case(planned(three, LEVEL, marked=("2",)), job(ASK), memory=MARKED, remove=("2",))
    verdict = gate(of)
    assert (verdict.act, verdict.reason, verdict.remove) == (True, Reason.EXECUTOR_REMOVED, ("2",))
    assert verdict.pending is not None
    assert verdict.pending.marked == ()


def test_who_leaves_now_is_no_longer_among_the_executors_that_should_exist() -> None:
    three = placed([20.0, 20.0, 20.0, 5.0], [0, 0, 0, 1], nodes=4, marked=flags(4, 2, 3))
    of = case(planned(three, LEVEL, marked=("2", "3")), memory=remembered(marked=("2", "3")), remove=("3",))
    verdict = gate(of)
    assert (verdict.executors_target, verdict.remove, verdict.marked_for_removal) == (3, ("3",), ("2", "3"))


def test_a_boundary_may_get_longer_by_a_part_of_the_predicted_batch_or_else_of_the_measured_one() -> None:
    free = job(("{maxCost: 1h, maxMigrations: 4}", "{maxMigrations: 4}"))
    model = timed([2.0, 2.0, 2.0, 0.5], [0, 0, 0, 1])
    assert gate(case(planned(model), free)).boundary_s == pytest.approx(0.6)
    assert gate(case(of=free)).boundary_s == pytest.approx(0.1 * SEEN.rates.mean_batch_s)


def test_each_of_several_queries_has_a_boundary_of_its_own() -> None:
    part = QueryPart(query_id="a", name="a", first_operator=0, operators=1, mean_batch_s=4.0)
    free = job(("{maxCost: 1h, maxMigrations: 4}", "{maxMigrations: 4}"))
    assert gate(case(of=free, snapshot=seen(queries=(part,)))).boundaries_s == {"a": pytest.approx(0.4)}


def test_where_key_groups_shall_be_after_a_restart_is_told() -> None:
    spread = job((PLAIN, "mode: Auto\n    initialPlacement: Spread\n    planner"))
    verdict = gate(case(of=spread))
    assert verdict.next_start is not None
    assert verdict.next_start.executors == 2
    assert verdict.message == f"{BETTER} {verdict.next_start.told}"
    none_wanted = gate(case(planned(wanted=0, decision=decided(Reason.SCALE_IN, 0)), spread))
    assert none_wanted.next_start is not None
    assert none_wanted.next_start.executors == 1
