"""The executors of an approved plan, where today's measurements ask for another number or for other marks."""

from __future__ import annotations

import dataclasses

import pytest
from approved_cases import BALANCE, UNEVEN, case, shown, today
from small_models import flags, moved
from worlds import job

from streamjob_operator.steps.approved import as_shown, judge
from streamjob_operator.steps.case import Case
from streamjob_operator.steps.resize import Resized
from streamjob_operator.values import PendingPlan, Reason

AUTOMATIC = job(BALANCE, annotations={"streamjob.dev/approve": "shown"})
MARKED_1 = dataclasses.replace(UNEVEN, marked=flags(3, 1))


def carried_out(plan: PendingPlan, world: Case) -> Case:
    found = as_shown(plan, world)
    assert not isinstance(found, str)
    return found


def test_a_number_that_was_shown_is_no_matter_where_executors_ask_nobody() -> None:
    plan = shown(executors_wanted=4)
    _, verdict = judge(case(plan, today(), AUTOMATIC))
    assert (verdict.act, verdict.executors_target) == (True, 3)


def test_a_plan_that_keeps_the_executors_starts_though_more_would_be_asked_for_now() -> None:
    plan = shown()
    decision = carried_out(plan, case(plan, today(wanted=5))).resized.decision
    assert (decision.target, decision.reason) == (3, Reason.SCALE_OUT)
    assert decision.message == "3 executors as plan shown says; now it would be: 5 would do."


def test_a_plan_that_keeps_the_executors_starts_though_fewer_would_do_now() -> None:
    plan = shown()
    decision = carried_out(plan, case(plan, today(wanted=2))).resized.decision
    assert (decision.target, decision.reason) == (3, Reason.SCALE_IN)


@pytest.mark.parametrize(("wanted", "starts"), [(3, False), (4, True), (5, True)])
def test_more_executors_come_only_while_more_than_there_are_would_be_asked_for(wanted: int, starts: bool) -> None:
    plan = shown(moves={}, executors_wanted=4)
    assert isinstance(as_shown(plan, case(plan, today(wanted=wanted))), str) is not starts


@pytest.mark.parametrize(("wanted", "starts"), [(1, True), (2, True), (3, False)])
def test_fewer_executors_stay_only_while_no_more_than_those_are_needed(wanted: int, starts: bool) -> None:
    plan = shown(moves={}, executors_wanted=2, marked=("2",))
    assert isinstance(as_shown(plan, case(plan, today(wanted=wanted))), str) is not starts


def test_as_many_executors_come_as_the_plan_has_above_those_that_stay() -> None:
    plan = shown(moves={}, executors_wanted=5)
    found = carried_out(plan, case(plan, today(wanted=6))).resized
    assert found.coming is not None
    assert (found.coming.executors, found.coming.model.n_nodes) == (2, 5)
    assert (found.decision.target, found.decision.reason) == (5, Reason.SCALE_OUT)


def test_none_comes_where_all_that_the_plan_has_are_there() -> None:
    plan = shown(moves={}, executors_wanted=2, marked=("2",))
    assert carried_out(plan, case(plan, today(wanted=1))).resized.coming is None


def test_of_a_plan_that_marks_another_one_the_marks_count_and_todays_sentence_stands() -> None:
    plan = shown(moves={}, executors_wanted=2, marked=("2",))
    found = carried_out(plan, case(plan, today(MARKED_1, 2, ("1",)))).resized
    assert found.marked == ("2",)
    assert found.model.marked.tolist() == [False, False, True]
    assert (found.decision.reason, found.decision.message) == (Reason.SCALE_IN, "2 would do.")


def message(plan: PendingPlan, resized: Resized | None = None) -> str:
    return judge(case(plan, resized))[1].message


def test_of_two_rules_that_it_breaks_the_first_one_is_told() -> None:
    pinned = dataclasses.replace(UNEVEN, pinned=flags(4, 0, 2))
    plan = shown(moves={"0/0": ("0", "1"), "0/2": ("0", "1")})
    assert "today's measurements: Group 0 is pinned but moves to 1." in message(plan, today(pinned))


@pytest.mark.parametrize(("made_at_s", "ago"), [(900.0, "1m40s"), (999.7, "0s"), (1005.0, "0s")])
def test_how_long_ago_it_was_shown_is_never_less_than_nothing(made_at_s: float, ago: str) -> None:
    """Clocks of two operators, one after the other, may differ."""
    assert f"Plan shown of {ago} ago is approved" in message(shown(executors_wanted=4, made_at_s=made_at_s))


def test_the_plan_that_may_be_approved_in_its_place_is_named_where_there_is_one() -> None:
    plan, better = shown(executors_wanted=4), today(plan=moved(UNEVEN, [0, 0, 1, 1]))
    waits = judge(case(plan, better))[1].pending
    assert waits is not None
    assert message(plan, better).endswith(f" What may be approved in its place is {waits.plan_hash}.")
    assert "in its place" not in message(plan)
