"""Which key groups an executor that is drained only stole, and which have not left it yet."""

from __future__ import annotations

import dataclasses

import pytest

from streamjob_agent import registration, thefts
from streamjob_agent.wire import GroupKey
from streamjob_agent.wish import Wish, World

A, B, C, D = (GroupKey(operator=0, partition=partition) for partition in range(4))
RUNNING = {A: "1", B: "1", C: "2", D: "2"}
WORLD = World(operators={0: 4}, live=("1", "2", "3"), shut=frozenset({"3"}), observed=RUNNING)
PLACED = Wish(registered=RUNNING, told=RUNNING, planned=True)


def look(state: Wish, observed: dict[GroupKey, str], **world: object) -> Wish:
    """The state after a look in which these were observed to run elsewhere than usual."""
    return registration.step(state, dataclasses.replace(WORLD, observed={**RUNNING, **observed}, **world))[0]


def stolen(state: Wish, observed: dict[GroupKey, str], homes: tuple[str, ...] = ("1", "2")) -> set[GroupKey]:
    return set(thefts.stolen(state, {**RUNNING, **observed}, {"3"}, homes))


def test_a_task_that_was_taken_from_where_the_group_had_been_all_the_time_is_stolen_at_once() -> None:
    assert stolen(look(PLACED, {A: "3"}), {A: "3"}) == {A}


def test_nothing_is_stolen_by_executors_that_stay() -> None:
    assert stolen(look(PLACED, {A: "2"}), {A: "2"}) == set()
    assert thefts.stolen(look(PLACED, {A: "3"}), {**RUNNING, A: "3"}, (), ("1", "2")) == set()


def test_a_group_that_is_registered_at_the_executor_that_is_drained_is_its_own() -> None:
    there = {**RUNNING, A: "3"}
    state = look(dataclasses.replace(PLACED, registered=there, told=there), {A: "3"})
    assert state.registered[A] == "3"
    assert stolen(state, {A: "3"}) == set()


@pytest.mark.parametrize("homes", [(), ("2",)])
def test_nobody_steals_from_one_that_is_gone_or_shut(homes: tuple[str, ...]) -> None:
    assert stolen(look(PLACED, {A: "3"}), {A: "3"}, homes) == set()


def moving() -> Wish:
    """A is registered at 3, and its move to 1 is begun in this look."""
    there = {**RUNNING, A: "3"}
    state = dataclasses.replace(PLACED, registered=there, told=there, goals={A: "1"}, order=(A,))
    state = look(state, {A: "3"})
    assert state.registered[A] == state.told[A] == "1"
    return state


def test_a_group_whose_move_has_begun_has_not_left_before_a_whole_batch_has_passed() -> None:
    state = moving()
    seen = []
    for boundary in (False, True, False, True, True):
        seen.append(stolen(state, {A: "3"}))
        state = look(state, {A: "3"}, boundary=boundary)
    assert seen == [set(), set(), set(), set(), {A}]


def test_once_it_was_seen_to_have_left_what_runs_there_again_is_stolen() -> None:
    state = look(moving(), {A: "1"}, boundary=False)
    assert state.recent == {}
    assert stolen(look(state, {A: "3"}, boundary=False), {A: "3"}) == {A}


def test_what_the_bridge_gave_and_is_taken_back_at_once_counts_from_then() -> None:
    state = dataclasses.replace(PLACED, goals={A: "1"}, order=(A,))
    state = look(state, {A: "3"}, given={A: "3"})
    assert state.registered[A] == state.told[A] == "1"
    assert stolen(state, {A: "3"}) == set()


def test_what_the_bridge_gives_before_the_first_task_is_seen_counts_from_then() -> None:
    world = dataclasses.replace(WORLD, observed={}, given=dict.fromkeys(RUNNING, "1"))
    state, _ = registration.step(Wish(), world)
    assert state.recent == dict.fromkeys(RUNNING, 0)
    assert stolen(look(state, {A: "3"}), {A: "3"}) == set()


def test_where_all_run_as_they_are_wanted_nothing_is_remembered_and_nothing_is_made_anew() -> None:
    assert registration.step(PLACED, WORLD)[0] is PLACED
    assert look(dataclasses.replace(PLACED, recent={A: 1}), {}).recent == {}


def test_a_group_at_home_says_nothing_of_those_after_it() -> None:
    there = {**RUNNING, D: "3"}
    state = dataclasses.replace(PLACED, registered=there, told=there, goals={D: "1"}, order=(D,))
    assert look(state, {D: "3"}).recent == {D: 0}
