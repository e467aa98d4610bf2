"""What becomes of an approval, on cases made by hand: exactly the plan that was shown, or why not."""

from __future__ import annotations

import dataclasses
import re

import pytest
from approved_cases import BALANCE, SCALING, SEEN, UNEVEN, case, decided, named, shown, today
from small_models import flags, moved, placed
from worlds import job

from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.approved import as_shown, judge
from streamjob_operator.steps.gate import gate
from streamjob_operator.steps.recall import recall
from streamjob_operator.steps.shown import MOST_SHOWN, approvable, policy_of, replaced
from streamjob_operator.values import Memory, Reason


def test_it_is_carried_out_with_its_moves_and_nothing_else() -> None:
    plan = shown()
    found, verdict = judge(case(plan))
    assert (verdict.act, verdict.pending, found.approved) == (True, plan, plan)
    assert verdict.plan is not None
    assert [(move.group, move.target) for move in verdict.plan.moves] == [(2, 1)]
    assert verdict.message.startswith("Approved. ")


def test_what_it_marks_and_is_empty_already_leaves_with_it() -> None:
    plan = shown(moves={}, executors_wanted=2, marked=("2",))
    _, verdict = judge(case(plan, today(dataclasses.replace(UNEVEN, marked=flags(3, 1, 2)), 1, ("1", "2"))))
    assert (verdict.act, verdict.reason, verdict.remove) == (True, Reason.SCALE_IN, ("2",))
    assert (verdict.marked_for_removal, verdict.executors_target) == (("2",), 2)
    assert verdict.message == "Approved. 2 executors as plan shown says; now it would be: 1 would do."


def test_who_leaves_by_an_earlier_decision_leaves_with_it_too() -> None:
    model = placed([20.0, 20.0, 20.0, 5.0], [0, 0, 0, 1], nodes=4, marked=flags(4, 2, 3))
    memory = dataclasses.replace(case(shown()).memory, marked=("3",))
    plan = shown(moves={}, executors_wanted=2, marked=("2",))
    asked = case(plan, today(model, 1, ("3", "2", "1")), memory=memory, remove=("3",))
    _, verdict = judge(dataclasses.replace(asked, memory=dataclasses.replace(memory, shown=(plan,))))
    assert (verdict.marked_for_removal, verdict.remove) == (("3", "2"), ("3", "2"))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"application_id": "app-0"}, "another driver runs"),
        ({"policy": "another"}, "the job was edited since it was shown"),
        ({"executors_wanted": 4}, "it asks for 4 executors, and now it is so: 3 would do."),
        ({"executors_wanted": 2, "marked": ("2",)}, "it asks for 2 executors, and now it is so: 3 would do."),
        ({"moves": {"0/2": ("1", "0")}}, "a key group of it is elsewhere by now"),
        ({"moves": {"0/2": ("0", "9")}}, "a key group of it is elsewhere by now"),
        ({"moves": {"0/2": ("0", "extra-1")}}, "a key group of it is elsewhere by now"),
        ({"moves": {"0/3": ("1", "0")}}, "it breaks a rule by today's measurements: "),
    ],
)
def test_why_it_cannot_be(changes: dict[str, object], why: str) -> None:
    plan = shown(**changes)
    found = as_shown(plan, case(plan))
    assert isinstance(found, str)
    assert found.startswith(why)
    _, verdict = judge(case(plan))
    assert f"Plan shown of 1m40s ago is approved and does not start: {why[:20]}" in verdict.message
    assert not verdict.act


def test_a_part_to_come_that_breaks_a_rule_is_looked_at_as_well() -> None:
    pinned = dataclasses.replace(UNEVEN, pinned=flags(4, 2))
    plan = shown(moves={"0/2": ("0", "extra-1")}, executors_wanted=4)
    found = as_shown(plan, case(plan, today(pinned, 5)))
    assert isinstance(found, str)
    assert found.startswith("it breaks a rule by today's measurements: ")
    assert not isinstance(as_shown(plan, case(plan, today(UNEVEN, 5))), str)


def test_an_executor_that_was_lost_before_it_was_shown_is_no_matter() -> None:
    plan = shown()
    for lost_at_s, possible in ((899.0, True), (900.0, True), (901.0, False)):
        memory = dataclasses.replace(case(plan).memory, lost_at_s=lost_at_s)
        assert isinstance(as_shown(plan, case(plan, memory=memory)), str) is not possible


@pytest.mark.parametrize(
    "of", [job(BALANCE, annotations={"streamjob.dev/approve": "shown"}), named()], ids=["automatic", "told"]
)
def test_where_executors_ask_nobody_todays_number_goes_with_the_moves(of: StreamJob) -> None:
    decision = decided(5, Reason.SCALE_OUT, told=of.spec.scaling.mode != "Auto")
    _, verdict = judge(case(shown(), today(wanted=5, decision=decision), of))
    assert (verdict.act, verdict.executors_target, verdict.message) == (True, 5, "Approved. 5 would do.")
    assert verdict.plan is not None
    assert len(verdict.plan.moves) == 1


def test_moves_that_are_not_worth_it_any_more_are_not_made() -> None:
    level = placed([20.0, 20.0, 20.0, 20.0], [0, 0, 1, 1], nodes=3)
    plan = shown(moves={"0/1": ("0", "2")})
    _, verdict = judge(
        case(plan, today(level), named(("maxMigrations: 4}", "maxMigrations: 4}\n    maxLoadDistance: 50")))
    )
    assert not verdict.act
    assert "is approved and does not start: Load distance" in verdict.message


def test_executors_alone_do_not_wait_for_moves_and_leave_those_of_the_newest_plan_going() -> None:
    always = (
        "executorTimeout: 60s}",
        'executorTimeout: 60s, windows: [{cron: "* * * * *", duration: 1m, deny: [Move]}]}',
    )
    plan = shown(moves={}, executors_wanted=4)
    _, verdict = judge(case(plan, today(wanted=5), named(always)))
    assert (verdict.act, verdict.executors_target, verdict.plan, verdict.pending) == (True, 4, None, plan)
    _, verdict = judge(case(plan, today(wanted=5)))
    assert (verdict.act, verdict.plan is None) == (True, False)
    with_moves = shown(executors_wanted=4)
    _, verdict = judge(case(with_moves, today(wanted=5), named(always)))
    assert not verdict.act
    assert "does not start: Window '* * * * *' forbids moves." in verdict.message


def test_a_plan_that_was_carried_out_or_that_nobody_asks_for_is_no_matter() -> None:
    done = dataclasses.replace(case(shown()).memory, approved_plan="shown")
    assert not judge(case(shown(), memory=done))[1].act
    auto = job(annotations={"streamjob.dev/approve": "shown"})
    assert "Approved" not in judge(case(shown(), of=auto))[1].message


def test_a_hash_that_nobody_knows_is_told_while_a_plan_waits() -> None:
    better = today(plan=moved(UNEVEN, [0, 0, 1, 1]))
    waits = judge(case(shown(), better, named(plan="typo")))[1]
    assert "The annotation streamjob.dev/approve names typo, which is another plan: none that waits" in waits.message
    level = today(placed([20.0, 20.0, 20.0], [0, 1, 2], nodes=3))
    assert "typo" not in judge(case(shown(), level, named(plan="typo")))[1].message


def test_it_may_be_approved_for_as_long_as_is_said_and_the_newest_for_as_long_as_it_is() -> None:
    memory = Memory(pending=shown(plan_hash="new", replaced_at_s=None), shown=(shown(),))
    of = job(("maxIterations: 1000", "maxIterations: 1000\n    approvableFor: 60s"))
    for now_s, hashes in ((1009.0, ["new", "shown"]), (1010.0, ["new"])):
        assert [one.plan_hash for one in approvable(memory, of, now_s)] == hashes


def test_few_plans_with_few_moves_are_kept_and_each_once() -> None:
    memory = Memory()
    for at in range(MOST_SHOWN + 3):
        newest = shown(plan_hash=str(at), replaced_at_s=None)
        memory = dataclasses.replace(memory, pending=newest, shown=replaced(memory, newest, float(at)))
    assert [(one.plan_hash, one.replaced_at_s) for one in memory.shown] == [
        ("5", 6.0),
        ("4", 5.0),
        ("3", 4.0),
        ("2", 3.0),
    ]
    again = shown(plan_hash="4", replaced_at_s=None)
    assert [one.plan_hash for one in replaced(memory, again, 9.0)] == ["6", "5", "3", "2"]


@pytest.mark.parametrize(
    ("moves", "kept"),
    [((2000,), 1), ((2001,), 0), ((500, 500, 500, 500), 4), ((500, 500, 500, 501), 3), ((1, 2000, 1), 1)],
)
def test_replaced_plans_have_two_thousand_moves_at_most_together(moves: tuple[int, ...], kept: int) -> None:
    """The first that is too much is left out with all that are older."""
    known = tuple(
        shown(plan_hash=str(at), moves={f"0/{group}": ("0", "1") for group in range(count)})
        for at, count in enumerate(moves)
    )
    assert replaced(Memory(shown=known), None, 10.0) == known[:kept]


def test_an_approval_of_key_groups_is_no_plan_that_nobody_knows() -> None:
    waits = shown(plan_hash="newest", replaced_at_s=None)
    _, named_one = judge(case(waits, of=named(plan="key-groups-64"), memory=Memory(pending=waits)))
    assert "another plan" not in named_one.message


def test_a_shown_plan_that_gains_nothing_keeps_no_better_one_from_being_shown() -> None:
    useless = shown(moves={"0/3": ("1", "2")})
    better = today(plan=moved(UNEVEN, [0, 0, 1, 1]))
    for memory in (case(useless).memory, Memory(executors_target=3, acted_at_s=800.0, pending=useless)):
        verdict = gate(case(useless, better, memory=memory))
        assert verdict.pending is not None
        assert verdict.pending.moves == {"0/2": ("0", "1")}


def test_a_plan_that_is_shown_again_is_the_newest_one_again() -> None:
    verdict = gate(case(shown()))
    assert verdict.pending == shown(replaced_at_s=None)


@pytest.mark.parametrize("other", [{"application_id": "app-0"}, {"queries": ("another", "two")}])
def test_plans_of_another_driver_or_of_other_queries_are_forgotten(other: dict[str, object]) -> None:
    memory = dataclasses.replace(case(shown()).memory, pending=shown(), **other)  # type: ignore[arg-type]
    again = recall(memory, SEEN, 1000.0)
    assert (again.pending, again.shown) == (None, ())
    assert recall(case(shown()).memory, SEEN, 1000.0).shown == (shown(),)


def test_a_policy_is_another_one_with_every_edit_but_the_number_that_an_autoscaler_writes() -> None:
    first = policy_of(job())
    assert policy_of(job()) == first
    assert re.fullmatch("[0-9a-f]{12}", first)  # short, since each plan in a status has it
    assert policy_of(job(("max: 6", "max: 40"))) != first
    assert policy_of(job(BALANCE)) != first
    assert policy_of(job(SCALING)) != first
    assert policy_of(job(("max: 6", "max: 6, replicas: 4"))) == first
