"""Who is empty leaves whatever else waits, but not where a person or the agent wants nothing to change."""

from __future__ import annotations

import dataclasses

import pytest
from worlds import World, even, job

from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.leave import despite, gone, removal
from streamjob_operator.values import Hold, Memory, PendingPlan, Reason, Verdict

AUTO = job()
OFF = ("scaling: {mode: Auto", "scaling: {mode: 'Off'")
STILL = ("mode: Auto\n    planner", "mode: 'Off'\n    planner")
FAILED = Hold(Reason.PLANNER_FAILED, "No plan today.")
PENDING = PendingPlan(
    plan_hash="0123456789ab", made_at_s=1.0, application_id="app-1", moves={}, executors_wanted=2, marked=()
)
DRAINING = Memory(marked=("2", "3"), executors_target=2)


def emptied() -> World:
    """Executors 2 and 3 are marked; 3 is empty."""
    world = even(4, 1, 10.0)
    world.owners = ["0", "1", "2", "2"]
    return world


def found(
    hold: Hold = FAILED, of: StreamJob = AUTO, memory: Memory = DRAINING, world: World | None = None
) -> Verdict | None:
    return despite(hold, (world or emptied()).observe(1000.0, 10.0), memory, of)


def test_a_removal_counts_those_that_still_drain_and_keeps_every_mark() -> None:
    verdict = removal(DRAINING, AUTO, ("3",), "No plan today.")
    assert (verdict.act, verdict.reason, verdict.remove) == (True, Reason.EXECUTOR_REMOVED, ("3",))
    assert verdict.message == "Executor 3 is empty and leaves. No plan today."
    assert (verdict.executors_target, verdict.marked_for_removal) == (3, ("2", "3"))
    assert (verdict.plan, verdict.pending, verdict.awaits) == (None, None, False)


def test_a_plan_that_waits_goes_on_waiting() -> None:
    verdict = removal(DRAINING, AUTO, ("3",), pending=PENDING)
    assert (verdict.message, verdict.pending, verdict.awaits) == ("Executor 3 is empty and leaves.", PENDING, True)


def test_the_number_is_left_alone_where_it_was_never_decided_or_is_nobodys() -> None:
    assert removal(Memory(marked=("3",)), AUTO, ("3",)).executors_target is None
    assert removal(DRAINING, job(OFF), ("3",)).executors_target is None


def test_several_are_named_in_the_plural() -> None:
    assert gone(("3",)) == "Executor 3 is empty and leaves."
    assert gone(("2", "3")) == "Executors 2, 3 are empty and leave."


@pytest.mark.parametrize("reason", [Reason.PLANNER_FAILED, Reason.PLANNER_OVERRAN, Reason.PLANNER_STARTING])
def test_without_a_plan_who_is_empty_goes(reason: Reason) -> None:
    verdict = found(Hold(reason, "Why."))
    assert verdict is not None
    assert (verdict.remove, verdict.message) == (("3",), "Executor 3 is empty and leaves. Why.")


def test_what_waits_for_approval_outlives_a_planner_that_fails() -> None:
    verdict = found(memory=dataclasses.replace(DRAINING, pending=PENDING))
    assert verdict is not None
    assert (verdict.pending, verdict.awaits) == (PENDING, True)


def test_measurements_that_are_in_doubt_say_of_nobody_that_it_is_empty() -> None:
    assert found(Hold(Reason.METRICS_INCOMPLETE, "Why.")) is None
    assert despite(FAILED, None, DRAINING, AUTO) is None


def test_where_nothing_may_change_nobody_goes() -> None:
    assert found(of=job(annotations={"streamjob.dev/pause": "true"})) is None
    deaf = emptied()
    deaf.actuation_on = False
    assert found(world=deaf) is None
    assert found(of=job(OFF, STILL)) is None


@pytest.mark.parametrize("change", [OFF, STILL])
def test_moving_or_scaling_alone_is_enough_to_let_it_go(change: tuple[str, str]) -> None:
    assert found(of=job(change)) is not None


def test_nobody_goes_who_holds_key_groups() -> None:
    assert found(memory=Memory(marked=("2",), executors_target=3)) is None
