"""How a plan is taken over: which of its owners are moves, in what order they come, and what is counted anew."""

from __future__ import annotations

import dataclasses

from streamjob_agent import wish
from streamjob_agent.wire import Assignment, GroupKey, Pace
from streamjob_agent.wish import Wish

A, B, C, D = (GroupKey(operator=0, partition=partition) for partition in range(4))
RUNNING = {A: "1", B: "1", C: "2", D: "2"}
PLACED = Wish(registered=RUNNING)


def plan(*owners: str | None, **fields: object) -> Assignment:
    return Assignment(generation=1, application_id="a", query_id="q", owners={0: owners}, **fields)  # type: ignore[arg-type]


def test_before_any_plan_nothing_is_pending_and_nothing_was_counted() -> None:
    state = Wish()
    assert (state.moves_pending, state.moves_failed, state.done, state.planned) == (0, 0, 0, False)
    assert (state.done_total, state.failed_total, state.guard_total) == (0, 0, 0)


def test_only_key_groups_that_run_elsewhere_are_moves() -> None:
    state = wish.adopt(PLACED, plan("1", "2", None, "2"), RUNNING)
    assert state.goals == {B: "2"}
    assert (state.moves_pending, state.planned) == (1, True)


def test_the_same_plan_again_keeps_the_moves_that_were_released_and_not_obeyed_yet() -> None:
    released = dataclasses.replace(PLACED, registered={**RUNNING, B: "2"})
    assert wish.adopt(released, plan("1", "2", "2", "2"), RUNNING).goals == {B: "2"}


def test_a_move_that_was_released_and_is_taken_back_is_a_move_back() -> None:
    released = dataclasses.replace(PLACED, registered={**RUNNING, B: "2"})
    assert wish.adopt(released, plan("1", "1", "2", "2"), RUNNING).goals == {B: "1"}


def test_a_key_group_that_was_never_registered_is_no_move_where_it_runs() -> None:
    assert wish.adopt(Wish(), plan("1", "1", "2", "2"), RUNNING).goals == {}


def test_moves_to_executors_that_are_to_come_have_places_and_an_order_as_the_others_have() -> None:
    state = wish.adopt(
        PLACED, plan("2", None, None, None, arrivals={0: (None, 2, None, 1)}, move_order=(D, C)), RUNNING
    )
    assert state.places == {B: 2, D: 1}
    assert state.order == (D, A, B)  # the plan's own order first, then the key groups' own; C does not move


def test_a_new_plan_replaces_the_old_ones_moves_pace_and_counts_and_keeps_the_totals() -> None:
    before = dataclasses.replace(
        PLACED,
        goals={A: "2"},
        places={C: 1},
        arrived=("9",),
        failing=frozenset([A]),
        done=3,
        failed=2,
        done_total=7,
        failed_total=5,
        guard_total=1,
    )
    fields = {"pace": Pace(max_moves=2), "move_cost_s": {D: 0.5}, "known_executors": ("1", "2", "7")}
    after = wish.adopt(before, plan(None, None, None, "1", **fields), RUNNING)
    assert (after.goals, after.places, after.arrived, after.failing) == ({D: "1"}, {}, (), frozenset())
    assert (after.pace, after.cost_s, after.known) == (Pace(max_moves=2), {D: 0.5}, frozenset("127"))
    assert (after.done, after.failed, after.moves_failed) == (0, 0, 0)
    assert (after.done_total, after.failed_total, after.guard_total) == (7, 5, 1)


def test_failing_moves_count_as_failed_with_those_that_lost_their_target_and_not_as_pending() -> None:
    state = dataclasses.replace(PLACED, goals={A: "2", B: "2", C: "1"}, failing=frozenset([A]), failed=4)
    assert (state.moves_pending, state.moves_failed) == (2, 5)
