"""What memory means in the light of a new snapshot: another driver, other queries, executors that came or went."""

from __future__ import annotations

import dataclasses

import pytest
from worlds import World, even

from streamjob_operator.steps.recall import empty_of, recall, recall_unmeasured
from streamjob_operator.values import Lag, Memory, PendingPlan, QueryPart, Snapshot
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.batch.learned import Learned, MoveEvidence
from streamjob_planners.collocation.remote_cost import Evidence

NOW_S = 1000.0
MOVES = dataclasses.replace(MoveEvidence.prior(), told=7.0)
PENDING = PendingPlan(
    plan_hash="0123456789ab", made_at_s=1.0, application_id="app-1", moves={}, executors_wanted=3, marked=()
)
KNOWN = Memory(
    generation=4,
    application_id="app-1",
    run_id="run-1",
    executors_target=3,
    executors=("0", "1", "2"),
    first_seen_s=500.0,
)
FULL = dataclasses.replace(
    KNOWN,
    marked=("2",),
    pending=PENDING,
    lag=Lag(at_s=1.0, rows=2.0),
    moved=("0/0",),
    arrivals=2,
    filling=True,
    stirred_at_s=600.0,
    fleet_since_s=600.0,
    remote_reads=Evidence(),
    learned_at_s=NOW_S,  # so that this window teaches nothing
    batches=Knowledge(at_s=NOW_S, tasks_at_s=NOW_S, measured_s=3.0, fixed_s=Learned(mean=1.0), moves=MOVES),
)


def fleet(*states: str) -> World:
    """Executors "0", "1" and so on in these states, with a key group each."""
    world = even(len(states), 1, 10.0)
    world.executors = {str(at): state for at, state in enumerate(states)}
    world.generation = 4
    return world


def seen(world: World, **changes: object) -> Snapshot:
    return dataclasses.replace(world.observe(NOW_S, 10.0), **changes)  # type: ignore[arg-type]


READY = fleet("ready", "ready", "ready")


def now(memory: Memory, world: World = READY, **changes: object) -> Memory:
    return recall(memory, seen(world, **changes), NOW_S)


def test_a_driver_that_is_known_keeps_all() -> None:
    found = now(FULL, fleet("ready", "ready", "draining"))
    assert (found.marked, found.pending, found.lag, found.moved) == (("2",), PENDING, FULL.lag, ("0/0",))
    assert (found.first_seen_s, found.stirred_at_s, found.fleet_since_s) == (500.0, 600.0, 600.0)
    assert (found.remote_reads, found.learned_at_s, found.arrivals) == (Evidence(), NOW_S, 2)
    assert (found.batches.measured_s, found.batches.moves) == (3.0, MOVES)


def test_of_another_driver_only_what_moves_cost_is_known() -> None:
    found = recall_unmeasured(FULL, seen(READY, application_id="app-2", moves_pending=3), NOW_S)
    assert (found.application_id, found.executors, found.first_seen_s) == ("app-2", ("0", "1", "2"), NOW_S)
    assert (found.marked, found.pending, found.lag, found.fleet_since_s) == ((), None, None, None)
    assert (found.arrivals, found.filling, found.stirred_at_s) == (0, False, None)
    assert (found.remote_reads, found.learned_at_s, found.batches) == (None, None, Knowledge(moves=MOVES))
    assert (found.generation, found.executors_target) == (4, 3)


def test_executors_of_another_driver_are_waited_for_from_its_own_beginning_on() -> None:
    """The wish was given up in its first cycle, as the one before had waited: it went on with what had come by then."""
    waiting = dataclasses.replace(KNOWN, executors_target=5, target_since_s=100.0)
    assert now(waiting).target_since_s == 100.0
    assert now(waiting, application_id="app-2").target_since_s == NOW_S


def parts(*names: str) -> tuple[QueryPart, ...]:
    return tuple(
        QueryPart(query_id=name, name=name, first_operator=at, operators=1, mean_batch_s=1.0)
        for at, name in enumerate(names)
    )


def test_once_other_queries_share_the_driver_executors_stay_known_and_key_groups_do_not() -> None:
    paced = dataclasses.replace(FULL, batches=dataclasses.replace(FULL.batches, at_s=NOW_S))
    found = now(paced, fleet("ready", "ready", "draining"), queries=parts("a", "b"), moves_pending=1)
    assert (found.queries, found.marked, found.arrivals) == (("a", "b"), ("2",), 2)
    assert (found.pending, found.lag, found.moved, found.remote_reads) == (None, None, None, None)
    assert (found.batches.measured_s, found.batches.moves) == (None, MOVES)
    same = dataclasses.replace(FULL, queries=("a", "b"))
    assert now(same, fleet("ready", "ready", "draining"), queries=parts("a", "b")).pending == PENDING
    assert now(same, queries=parts("b", "a")).pending is None, "another one leads"


def test_the_most_key_groups_that_a_run_has_shown() -> None:
    more = dataclasses.replace(KNOWN, groups_seen=9)
    assert (now(more).groups_seen, now(more).run_id) == (9, "run-1")
    assert now(dataclasses.replace(KNOWN, groups_seen=2)).groups_seen == 3
    assert now(more, run_id="run-2").groups_seen == 3
    assert now(more, run_id="run-2", group_ids=()).groups_seen == 0


def test_the_newest_generation_counts_whoever_made_it() -> None:
    assert now(KNOWN, generation_applied=None).generation == 4
    assert now(KNOWN, generation_applied=3).generation == 4
    assert now(KNOWN, generation_applied=6).generation == 6


def test_before_any_generation_was_applied_nobody_is_behind() -> None:
    found = now(dataclasses.replace(KNOWN, generation=0, executors_target=5), generation_applied=None)
    assert (found.generation, found.executors_target) == (0, 5)


def test_what_is_wanted_is_what_was_decided_and_what_is_there_before_anything_was() -> None:
    assert now(dataclasses.replace(KNOWN, executors_target=5)).executors_target == 5
    assert now(Memory(), fleet("ready", "draining", "leaving")).executors_target == 1
    marked = dataclasses.replace(KNOWN, marked=("2",), executors_target=None)
    assert now(marked).executors_target == 2


def test_a_controller_that_died_before_it_saved_reads_off_what_it_wanted() -> None:
    died = dataclasses.replace(KNOWN, executors_target=5, marked=("1",))
    found = now(died, fleet("ready", "ready", "draining"), generation_applied=5)
    assert (found.executors_target, found.marked) == (1, ("1", "2"))
    saved = now(died, fleet("ready", "ready", "draining"), generation_applied=4)
    assert (saved.executors_target, saved.marked) == (5, ("1",))
    again = dataclasses.replace(died, marked=("2",))
    assert now(again, fleet("ready", "ready", "draining"), generation_applied=5).marked == ("2",)


def test_since_when_executors_are_missing() -> None:
    missing = dataclasses.replace(KNOWN, executors_target=4)
    assert now(missing).target_since_s == NOW_S
    assert now(dataclasses.replace(missing, target_since_s=900.0)).target_since_s == 900.0
    assert now(dataclasses.replace(KNOWN, target_since_s=900.0)).target_since_s is None


def test_marks_end_with_their_executor_and_never_hold_for_all() -> None:
    marked = dataclasses.replace(KNOWN, marked=("1", "2", "7"))
    assert now(marked, fleet("ready", "draining", "leaving")).marked == ("1",)
    assert now(dataclasses.replace(KNOWN, marked=("0", "1", "2"))).marked == ()
    nobody = recall_unmeasured(marked, seen(fleet("leaving")), NOW_S)
    assert nobody.marked == ()


def snapshot(*names: str, pending: int = 0) -> Snapshot:
    """With these executors, measured ten seconds ago."""
    world = even(1, 1, 10.0)
    world.executors = dict.fromkeys(names, "ready")
    world.owners = [names[0]]
    world.moves_pending = pending
    return dataclasses.replace(world.observe(NOW_S, 10.0), taken_at_s=990.0)


def changed(memory: Memory, *names: str, pending: int = 0) -> Memory:
    """After a snapshot with these executors."""
    return recall(
        dataclasses.replace(memory, acted_at_s=800.0, stirred_at_s=700.0), snapshot(*names, pending=pending), NOW_S
    )


def times(memory: Memory) -> tuple[float | None, float | None, float | None]:
    return memory.fleet_since_s, memory.acted_at_s, memory.stirred_at_s


def test_the_first_fleet_and_the_same_one_are_no_change() -> None:
    assert times(changed(KNOWN, "2", "1", "0")) == (None, 800.0, 700.0)
    first = changed(dataclasses.replace(KNOWN, executors=()), "1", "0")
    assert (times(first), first.executors) == ((None, 800.0, 700.0), ("0", "1"))


def test_one_that_is_lost_makes_the_plan_an_old_one() -> None:
    found = changed(KNOWN, "0", "1")
    assert (times(found), found.executors) == ((NOW_S, 800.0, NOW_S), ("0", "1"))


def test_one_that_was_marked_goes_as_it_was_meant_to() -> None:
    assert times(changed(dataclasses.replace(KNOWN, marked=("2",)), "0", "1")) == (NOW_S, 800.0, 700.0)


def test_one_that_was_expected_takes_its_share_by_itself() -> None:
    expecting = dataclasses.replace(KNOWN, arrivals=2)
    found = changed(expecting, "0", "1", "2", "3", pending=1)
    assert (times(found), found.arrivals, found.filling) == ((NOW_S, 990.0, 700.0), 1, True)
    assert not changed(expecting, "0", "1", "2", "3").filling


def test_one_for_which_nothing_was_planned_makes_the_plan_an_old_one() -> None:
    found = changed(KNOWN, "0", "1", "2", "3", pending=4)
    assert (times(found), found.arrivals, found.filling) == ((NOW_S, 800.0, NOW_S), 0, False)
    more = changed(dataclasses.replace(KNOWN, arrivals=1), "0", "1", "2", "3", "4", pending=4)
    assert (times(more), more.arrivals, more.filling) == ((NOW_S, 800.0, NOW_S), 0, True)


def test_one_that_comes_while_a_long_batch_runs_makes_the_plan_an_old_one() -> None:
    """All that is measured is older than the newest plan, which knew nothing of it."""
    of = snapshot("0", "1", "2", "3", pending=4)
    found = recall(dataclasses.replace(KNOWN, acted_at_s=995.0), of, NOW_S)
    assert found.stirred_at_s is not None
    assert found.stirred_at_s > 995.0 > of.taken_at_s


def test_one_that_came_and_one_that_was_lost_are_both() -> None:
    found = changed(dataclasses.replace(KNOWN, arrivals=1), "0", "1", "3")
    assert (times(found), found.arrivals) == ((NOW_S, 800.0, NOW_S), 0)


@pytest.mark.parametrize(("pending", "filling"), [(1, True), (0, False)])
def test_filling_goes_on_while_moves_are_pending(pending: int, filling: bool) -> None:
    before = dataclasses.replace(KNOWN, filling=True)
    assert changed(before, "0", "1", "2", pending=pending).filling is filling
    assert changed(before, "0", "1", pending=pending).filling is filling


def test_empty_is_who_owns_nothing_by_measurements_and_by_the_agents_count() -> None:
    world = fleet("ready", "draining", "draining", "draining", "draining")
    world.owners = ["0", "0", "0", "0", "1"]
    world.told = {"0": 4, "1": 1, "2": 1, "3": 0}
    snapshot = seen(world, unmeasured={"clicks": ("4",)})
    assert empty_of(("1", "2", "3", "4"), snapshot) == ("3",)
    assert empty_of((), snapshot) == ()
