"""One cycle without measurements: what may be done, what is asked for and why, and what a person is told."""

from __future__ import annotations

import dataclasses

import pytest
from worlds import World, even, job

from streamjob_operator.outage import Known, Outage, Rung
from streamjob_operator.sight import Longer
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.fail_safe import Blind, fail_safe
from streamjob_operator.values import Hold, Memory, Reason, Verdict

NOW_S, SINCE_S = 1000.0, 910.4
HOLD = Hold(Reason.METRICS_STALE, "An hour old.")
LADDER = ("executorTimeout: 60s}", "executorTimeout: 60s, failSafe: {outAfter: 20s, floorAfter: 40s, floor: 4}}")
STILL = ("mode: Auto\n    planner", "mode: Recommend\n    planner")
SAFE, UNMOVED = job(LADDER), job(LADDER, STILL)
NOTHING = "as nothing that can be seen asks for more"
OUT_ONLY = "Measurements have been missing for 1m30s: executors may come, and none leaves"
FLOOR = "Measurements have been missing for 1m30s: executors may come, 4 at least, and none leaves"


def outage(rung: Rung = Rung.OUT_ONLY, base: int | None = 2) -> Outage:
    return Outage(since_s=SINCE_S, reason="MetricsStale", base=base, rung=rung)


MEMORY = Memory(
    application_id="app-1", executors=("0", "1"), executors_target=2, first_seen_s=0.0, outage=outage(), generation=4
)


def needing(needed: int) -> Memory:
    return dataclasses.replace(MEMORY, known=Known(needed=needed, batch_s=1.0, state_bytes=1e6))


def blind(memory: Memory = MEMORY, of: StreamJob = UNMOVED, world: World | None = None) -> Blind:
    seen = world or even(2, 6, 10.0)
    seen.now_s = NOW_S
    seen.generation = 4
    return fail_safe(HOLD, seen.look(), memory, of, NOW_S)


def told(verdict: Verdict) -> tuple[bool, Reason, str]:
    return verdict.act, verdict.reason, verdict.message


def stays(memory: Memory = MEMORY, of: StreamJob = UNMOVED, world: World | None = None) -> str:
    """Why no executor is asked for."""
    found = blind(memory, of, world)
    assert told(found.verdict)[:2] == (False, Reason.METRICS_STALE)
    assert (found.memory, found.snapshot) == (memory, None)
    verdict = found.verdict
    assert (verdict.plan, verdict.executors_target, verdict.remove) == (None, None, ())
    assert verdict.marked_for_removal == memory.marked
    start = f"An hour old. {OUT_ONLY}; "
    assert verdict.message.startswith(start)
    return verdict.message.removeprefix(start)


def grown(memory: Memory = MEMORY, of: StreamJob = UNMOVED, world: World | None = None) -> tuple[int | None, str]:
    """The number of executors that is asked for, and why."""
    found = blind(memory, of, world)
    assert told(found.verdict)[:2] == (True, Reason.FAIL_SAFE_OUT)
    start, end = f"{OUT_ONLY}. ", " An hour old."
    assert found.verdict.message.startswith(start)
    assert found.verdict.message.endswith(end)
    return found.verdict.executors_target, found.verdict.message.removeprefix(start).removesuffix(end)


@pytest.mark.parametrize("missing", [None, outage(Rung.HOLD)])
def test_before_the_ladder_is_climbed_it_is_a_hold_like_any_other(missing: Outage | None) -> None:
    memory = dataclasses.replace(needing(5), outage=missing, marked=("1",))
    found = blind(memory)
    assert told(found.verdict) == (False, Reason.METRICS_STALE, "An hour old.")
    assert (found.memory, found.snapshot, found.verdict.marked_for_removal) == (memory, None, ("1",))


def test_where_nothing_asks_for_more_all_stay() -> None:
    assert stays() == f"2 executors stay, {NOTHING}."


def test_what_was_needed_when_measurements_ended_is_asked_for() -> None:
    assert grown(needing(3)) == (3, "3 executors in place of 2, as 3 were needed when measurements ended.")
    assert stays(needing(2)) == f"2 executors stay, {NOTHING}."


def longer(ratio: float, ended_at_s: float = NOW_S) -> World:
    world = even(2, 6, 10.0)
    world.longer = Longer(ratio=ratio, ended_at_s=ended_at_s)
    return world


@pytest.mark.parametrize(("ratio", "wanted", "said"), [(1.4, 3, "1.4"), (2.0, 4, "2.0"), (9.0, 4, "9.0")])
def test_longer_batches_ask_for_as_many_more_up_to_twice_as_many(ratio: float, wanted: int, said: str) -> None:
    why = f"{wanted} executors in place of 2, as batches take {said} times what is usual."
    assert grown(world=longer(ratio)) == (wanted, why)


def test_what_batches_took_before_measurements_ended_asks_for_nothing() -> None:
    assert grown(world=longer(1.4, SINCE_S))[0] == 3
    assert stays(world=longer(1.4, SINCE_S - 1.0)) == f"2 executors stay, {NOTHING}."


def test_the_number_that_was_wanted_when_measurements_ended_is_what_they_are_counted_from() -> None:
    grew = dataclasses.replace(MEMORY, executors_target=3, outage=outage(base=2))
    assert stays(grew, world=longer(1.4)) == f"3 executors stay, {NOTHING}."
    never = dataclasses.replace(MEMORY, outage=outage(base=None))
    assert grown(never, world=longer(1.4))[0] == 3


@pytest.mark.parametrize("ratio", [1.0, 0.9])
def test_batches_that_take_no_longer_than_usual_ask_for_nothing_however_many_there_were(ratio: float) -> None:
    fewer = dataclasses.replace(MEMORY, outage=outage(base=4))
    assert stays(fewer, world=longer(ratio)) == f"2 executors stay, {NOTHING}."


def test_the_floor_is_asked_for_on_its_own_rung_alone() -> None:
    on_it = dataclasses.replace(MEMORY, outage=outage(Rung.FLOOR))
    found = blind(on_it).verdict
    assert found.executors_target == 4
    assert told(found) == (
        True,
        Reason.FAIL_SAFE_FLOOR,
        f"{FLOOR}. 4 executors in place of 2, as failSafe.floor is 4. An hour old.",
    )


def test_the_fewest_and_the_most_executors_hold() -> None:
    least = job(LADDER, STILL, ("min: 1", "min: 5"))
    assert grown(of=least) == (5, "5 executors in place of 2, as executors.min is 5.")
    most = job(LADDER, STILL, ("max: 6", "max: 3"))
    why = "as 5 were needed when measurements ended"
    assert grown(needing(5), most) == (3, f"3 executors in place of 2, {why}.")
    assert stays(needing(5), job(LADDER, STILL, ("max: 6", "max: 2"))) == (
        f"2 executors stay, the most allowed ({why})."
    )
    beyond = dataclasses.replace(needing(5), executors_target=4)
    assert stays(beyond, most) == f"4 executors stay, the most allowed ({why})."


def test_nothing_is_done_while_the_job_is_paused_or_nobody_would_do_it() -> None:
    paused = job(LADDER, STILL, annotations={"streamjob.dev/pause": "true"})
    assert stays(needing(5), paused) == "the job is paused by its annotation streamjob.dev/pause."
    deaf = even(2, 6, 10.0)
    deaf.actuation_on = False
    assert stays(needing(5), world=deaf) == "the agent does not act: SelfTestFailed."
    unheard = even(2, 6, 10.0)
    unheard.heard = False
    assert stays(needing(5), world=unheard) == "the agent is not heard either, so nothing can be asked for."


def test_executors_that_did_not_come_are_asked_for_again_once_their_time_is_over() -> None:
    retreated = dataclasses.replace(needing(3), retreat_until_s=NOW_S + 30.4)
    wish = "3 executors as 3 were needed when measurements ended"
    assert stays(retreated) == f"{wish}, but the last ones that were asked for did not come; trying again in 30s."
    assert grown(dataclasses.replace(retreated, retreat_until_s=NOW_S))[0] == 3


def test_a_window_may_forbid_more() -> None:
    closed = LADDER[1].removesuffix("}") + ', windows: [{cron: "* * * * *", duration: 1m, deny: [ScaleUp]}]}'
    of = job((LADDER[0], closed), STILL)
    wish = "3 executors as 3 were needed when measurements ended"
    assert stays(needing(3), of) == f"{wish}, but the window '* * * * *' forbids more."
    assert stays(of=of) == f"2 executors stay, {NOTHING}."


def test_where_scaling_does_not_act_it_recommends() -> None:
    of = job(LADDER, ("scaling: {mode: Auto", "scaling: {mode: Recommend"))
    assert stays(needing(3), of) == "recommended: 3 executors, as 3 were needed when measurements ended."
    assert stays(of=of) == f"2 executors stay, {NOTHING}."


def draining(*held: str) -> World:
    """Executors 0 and 1, and marked ones, where these own a key group each."""
    world = even(5, 1, 10.0)
    world.owners = list(held)
    world.loads = [10.0] * len(held)
    for marked in ("2", "3", "4"):
        world.executors[marked] = "draining"
    return world


MARKED = dataclasses.replace(MEMORY, executors=("0", "1", "2", "3", "4"), marked=("2", "3", "4"))


def test_marked_executors_are_taken_back_first_the_fullest_of_them_and_others_go_on_being_drained() -> None:
    needs = dataclasses.replace(MARKED, known=Known(needed=3, batch_s=1.0, state_bytes=1e6))
    found = blind(needs, world=draining("0", "1", "3", "3", "2", "4")).verdict
    assert (found.marked_for_removal, found.executors_target) == (("2", "4"), 5)
    alike = blind(needs, world=draining("0", "1", "2", "3", "4")).verdict
    assert (alike.marked_for_removal, alike.executors_target) == (("3", "4"), 5)


def test_without_a_wish_for_more_every_drain_goes_on() -> None:
    assert stays(MARKED, world=draining("0", "1", "2", "3", "4")) == f"2 executors stay, {NOTHING}."


def test_marks_and_who_is_there_are_remembered_as_they_are_seen() -> None:
    needs = dataclasses.replace(needing(3), marked=("9",), executors=("0", "1", "9"))
    found = blind(needs)
    assert found.memory.marked == ()
    assert found.memory.executors == ("0", "1")
    assert found.snapshot is not None
    assert found.snapshot.owners == ("0",) * 6 + ("1",) * 6


def test_without_a_share_the_newest_plan_goes_on() -> None:
    verdict = blind(needing(3)).verdict
    assert (verdict.plan, verdict.arrivals, verdict.remove) == (None, None, ())
    assert (verdict.boundary_s, verdict.boundaries_s, verdict.move_cost_s) == (None, {}, ())


def test_executors_without_key_groups_get_a_share_by_their_number() -> None:
    world = even(2, 6, 10.0)
    world.executors["2"] = "ready"
    three = dataclasses.replace(MEMORY, executors=("0", "1", "2"), executors_target=3)
    found = blind(three, SAFE, world).verdict
    said = "3 executors stay. An hour old. 4 key groups go to executors without any, by their number alone."
    assert told(found) == (True, Reason.FAIL_SAFE_OUT, f"{OUT_ONLY}. {said}")
    assert found.plan is not None
    assert len(found.plan.moves) == len(found.move_cost_s) == 4
    assert (found.arrivals, found.executors_target, found.boundary_s) == (None, 3, 3600.0)


def test_those_to_come_have_a_share_too() -> None:
    found = blind(needing(3), SAFE).verdict
    assert found.arrivals is not None
    assert (found.arrivals.executors, len(found.arrivals.groups)) == (1, 4)
    assert found.plan is not None
    assert len(found.plan.moves) == 0
