"""One look at the world at a time: what is registered, what is told to the bridge, and what is counted."""

from __future__ import annotations

import dataclasses

import pytest

from streamjob_agent import registration
from streamjob_agent.bridge import Traffic, TrafficReading
from streamjob_agent.wire import GroupKey, Pace
from streamjob_agent.wish import Wish, World

A, B, C, D = (GroupKey(operator=0, partition=partition) for partition in range(4))
RUNNING = {A: "1", B: "1", C: "1", D: "2"}
WORLD = World(operators={0: 4}, live=("1", "2"), observed=RUNNING)
PLACED = Wish(registered=RUNNING, planned=True)


def released(pace: Pace, sizes: dict[GroupKey, int], costs: dict[GroupKey, float], **fields: object) -> set[GroupKey]:
    """Of the moves of A, B and C, in this order, those that one boundary begins."""
    state = dataclasses.replace(
        PLACED, goals=dict.fromkeys((A, B, C), "2"), order=(A, B, C), pace=pace, cost_s=costs, **fields
    )
    _, told = registration.step(state, dataclasses.replace(WORLD, state_bytes=sizes))
    return set(told)


@pytest.mark.parametrize(
    ("sizes", "begun"),
    [
        ({A: 30, B: 30, C: 1}, {A, B}),  # used up to the last byte
        ({A: 30, B: 31, C: 1}, {A}),  # C would fit, but none overtakes
        ({B: 60}, {A, B, C}),  # what nobody has measured counts as nothing
        ({B: 61}, {A}),
        ({A: 60}, {A, B, C}),
        ({A: 99}, {A}),  # one is begun, however large
    ],
)
def test_moves_begin_in_their_order_until_the_bytes_of_a_boundary_are_used(
    sizes: dict[GroupKey, int], begun: set[GroupKey]
) -> None:
    assert released(Pace(max_state_bytes=60), sizes, {}) == begun


@pytest.mark.parametrize(
    ("costs", "begun"),
    [
        ({A: 0.5, B: 0.5, C: 0.25}, {A, B}),
        ({A: 0.5, B: 0.75, C: 0.25}, {A}),
        ({B: 1.0}, {A, B, C}),
        ({B: 1.25}, {A}),
        ({A: 1.0}, {A, B, C}),
    ],
)
def test_moves_begin_in_their_order_until_the_seconds_of_a_boundary_are_used(
    costs: dict[GroupKey, float], begun: set[GroupKey]
) -> None:
    assert released(Pace(max_cost_s=1.0), {}, costs) == begun


@pytest.mark.parametrize(("cost_s", "begun"), [(1.0, {A, B}), (1.25, {A})])
def test_a_disobeyed_move_of_unknown_cost_leaves_the_whole_pace_to_the_next(
    cost_s: float, begun: set[GroupKey]
) -> None:
    waiting = {"registered": {**RUNNING, A: "2"}, "asked": {A: 2}}
    assert released(Pace(max_cost_s=1.0), {}, {B: cost_s, C: 9.0}, **waiting) == begun


@pytest.mark.parametrize(("size", "begun"), [(60, {A, B}), (61, {A})])
def test_a_disobeyed_move_of_unknown_size_does_so_too(size: int, begun: set[GroupKey]) -> None:
    waiting = {"registered": {**RUNNING, A: "2"}, "asked": {A: 2}}
    assert released(Pace(max_state_bytes=60), {B: size, C: 99}, {}, **waiting) == begun


def test_a_move_that_is_seen_obeyed_counts_in_the_plan_and_in_the_total() -> None:
    state = dataclasses.replace(
        PLACED, registered={**RUNNING, A: "2"}, goals={A: "2", B: "2"}, done=1, done_total=4, pace=Pace(max_moves=0)
    )
    after, _ = registration.step(state, dataclasses.replace(WORLD, observed={**RUNNING, A: "2"}))
    assert (after.goals, after.done, after.done_total) == ({B: "2"}, 2, 5)


def test_the_bridge_is_never_told_an_executor_that_is_to_go_even_where_a_group_runs() -> None:
    state = dataclasses.replace(PLACED, told={D: "1"})
    after, told = registration.step(state, dataclasses.replace(WORLD, shut=frozenset("2")))
    assert (told, after.registered) == ({}, RUNNING)


def test_a_group_is_wanted_where_it_runs_once_its_executor_is_to_go_before_it_got_there() -> None:
    state = dataclasses.replace(PLACED, registered={**RUNNING, A: "2"})
    after, told = registration.step(state, dataclasses.replace(WORLD, shut=frozenset("2")))
    assert (after.registered[A], told) == ("1", {})
    assert after.guard_total == 0, "nobody was lost"


def test_a_group_that_is_back_where_it_is_wanted_was_never_away_as_to_what_comes_later() -> None:
    after, _ = registration.step(dataclasses.replace(PLACED, asked={A: 3}), WORLD)
    assert after.asked == {}


def test_without_a_plan_what_is_smallest_leaves_first_and_what_nobody_measured_counts_as_nothing() -> None:
    unplanned = Wish(registered=RUNNING)
    for sizes, first in (({A: 0}, A), ({A: 1}, B), ({A: 2, B: 1, C: 3}, B)):
        world = dataclasses.replace(WORLD, shut=frozenset("1"), state_bytes=sizes)
        assert list(registration.step(unplanned, world)[1]) == [first]


class Compared(GroupKey):
    """A key that counts how often any is compared with another one."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return tuple.__eq__(self, other)

    __hash__ = tuple.__hash__


def test_leaving_compares_each_of_many_groups_with_few_others() -> None:
    held = {Compared(operator=0, partition=partition): str(1 + partition % 2) for partition in range(400)}
    world = World(operators={0: len(held)}, live=("1", "2"), shut=frozenset("1"), observed=held)
    Compared.times = 0
    after = registration._leave(Wish(registered=held), world)  # a whole step makes keys of its own
    assert sum(after.registered[key] != owner for key, owner in held.items()) == 50
    assert Compared.times < 20 * len(held)


def test_a_group_that_nobody_has_seen_is_the_bridges_until_its_executor_dies() -> None:
    seen = {key: owner for key, owner in RUNNING.items() if key != D}
    state = dataclasses.replace(PLACED, registered=seen, goals={A: "2"})
    after, told = registration.step(state, dataclasses.replace(WORLD, observed=seen))
    assert D not in after.registered.keys() | told.keys()
    lost = dataclasses.replace(WORLD, live=("1",), observed=seen)
    after, told = registration.step(PLACED, lost)
    assert (after.registered[D], told[D], after.guard_total) == ("1", "1", 1)


SENDS = tuple(GroupKey(operator=1, partition=partition) for partition in range(2))
APART = {A: "1", B: "2", SENDS[0]: "2", SENDS[1]: "1"}
PAIRS = TrafficReading(
    pairs=tuple(Traffic(from_key=one, to_key=to, size_bytes=100) for one, to in zip(SENDS, (A, B), strict=True))
)
TALKS = World(operators={0: 2, 1: 2}, live=("1", "2"), observed=APART, first_traffic=PAIRS)


def test_the_first_traffic_brings_pairs_together_once() -> None:
    after, told = registration.step(Wish(registered=APART), TALKS)
    assert told == {A: "2", B: "1"}
    assert (after.gathered, after.moves_total, after.done_total, after.guard_total) == (2, 2, 0, 0)
    again, told = registration.step(dataclasses.replace(after, registered=APART), TALKS)
    assert (again.registered, told) == (APART, {A: "1", B: "2"}), "who wants them elsewhere by then is right"


def test_it_does_so_in_mid_batch_too_and_before_anything_that_was_asked_is_old() -> None:
    asking = Wish(registered=APART, asked={A: 3})
    after, told = registration.step(asking, dataclasses.replace(TALKS, boundary=False))
    assert (told, after.asked) == ({A: "2", B: "1"}, {})


@pytest.mark.parametrize(
    ("state", "world"),
    [
        (Wish(registered=APART, planned=True), TALKS),
        (Wish(registered=APART, gathered=0), TALKS),
        (Wish(registered=APART), dataclasses.replace(TALKS, first_traffic=None)),
    ],
    ids=["planned", "looked at before", "not read"],
)
def test_a_placement_that_somebody_planned_or_that_no_traffic_is_known_of_stays(state: Wish, world: World) -> None:
    after, told = registration.step(state, world)
    assert (after.registered, told, after.gathered) == (APART, {}, state.gathered)


def test_who_is_gone_or_to_go_is_seen_to_first() -> None:
    shut = dataclasses.replace(TALKS, shut=frozenset("2"))
    after, _ = registration.step(Wish(registered=APART), shut)
    assert after.gathered is None
    lost = dataclasses.replace(TALKS, live=("1", "3"))
    after, told = registration.step(Wish(registered=APART), lost)
    assert (after.gathered is not None, after.guard_total) == (True, 2)
    assert {told[B], after.registered[SENDS[0]]} <= {"1", "3"}
