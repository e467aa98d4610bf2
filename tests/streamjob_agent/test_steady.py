"""Looks that go through what has changed alone, beside whole ones of the same worlds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_agent import registration, steady, wish
from streamjob_agent.bridge import Traffic, TrafficReading
from streamjob_agent.spread import group_keys
from streamjob_agent.steady import Looks
from streamjob_agent.wire import Assignment, GroupKey, Pace
from streamjob_agent.wish import Wish, World

OPERATORS = {0: 4, 1: 3}
KEYS = group_keys(OPERATORS)
NAMES = ("1", "2", "3")
A, B, C, D = KEYS[:4]
TRAFFIC = TrafficReading(
    pairs=tuple(
        Traffic(from_key=one, to_key=to, size_bytes=99 + at)
        for at, (one, to) in enumerate(zip(KEYS[4:], KEYS, strict=False))
    )
)


class Event(NamedTuple):
    """What happens before one look: tasks that end, None where they are wanted; fields of the world; a plan."""

    ran: dict[GroupKey, str | None]
    world: dict[str, object]
    plan: Assignment | None = None
    narrower: bool = False


def plan(owners: dict[GroupKey, str], arrivals: dict[GroupKey, int], moves: int | None) -> Assignment:
    def rows(cells: dict[GroupKey, object]) -> dict[int, tuple[object, ...]]:
        return {
            operator: tuple(cells.get(GroupKey(operator=operator, partition=at)) for at in range(count))
            for operator, count in OPERATORS.items()
        }

    free = {key: place for key, place in arrivals.items() if key not in owners}
    fields = {"owners": rows(dict(owners)), "arrivals": rows(dict(free)), "pace": Pace(max_moves=moves)}
    return Assignment(generation=1, application_id="a", query_id="q", known_executors=("1",), **fields)  # type: ignore[arg-type]


keys, names = st.sampled_from(KEYS), st.sampled_from(NAMES)
few_names = st.frozensets(names, max_size=1)
tasks = st.dictionaries(keys, st.none() | names, max_size=4)
fields = st.fixed_dictionaries(
    {},
    optional={
        "live": st.sets(names, min_size=1).map(lambda some: tuple(sorted(some))),
        "shut": few_names,
        "boundary": st.just(True),
        "idle": st.just(True),
        "given": st.dictionaries(keys, names, max_size=2),
        "first_traffic": st.just(TRAFFIC),
    },
)
nothing: st.SearchStrategy[dict[str, object]] = st.just({})
plans = st.builds(
    plan, st.dictionaries(keys, names), st.dictionaries(keys, st.just(1), max_size=2), st.none() | st.just(1)
)
no_plan, as_planned = st.none(), st.just(False)
events = st.one_of(
    st.builds(Event, tasks, nothing, no_plan, as_planned),  # nearly all of them, in the middle of a batch
    st.builds(Event, tasks, nothing, no_plan, as_planned),
    st.builds(Event, st.just(dict.fromkeys(KEYS)), st.just({"boundary": True}), no_plan, as_planned),
    st.builds(Event, tasks, fields, no_plan, as_planned),
    st.builds(Event, tasks, fields, plans, as_planned),
    st.builds(Event, tasks, fields, no_plan, st.just(True)),
)
START = World(operators=OPERATORS, live=NAMES, boundary=False, given=dict(zip(KEYS, "1231231", strict=True)))


@dataclasses.dataclass
class Beside:
    """Two states of one query, of looks at the same worlds: `mine` by what has changed, `whole` by all of it."""

    looks: Looks = dataclasses.field(default_factory=Looks)
    mine: Wish = dataclasses.field(default_factory=Wish)
    whole: Wish = dataclasses.field(default_factory=Wish)
    world: World = START

    def look(self, event: Event) -> None:
        wanted = self.whole.registered
        ran = {key: name or wanted.get(key, NAMES[0]) for key, name in event.ran.items()}
        self.world = dataclasses.replace(
            self.world, observed={**self.world.observed, **ran}, **{"boundary": False, "idle": False, **event.world}
        )
        news: Collection[GroupKey] | None = ran.keys()
        if event.narrower and len(self.world.operators) > 1:
            left = frozenset(group_keys({0: 4}))
            observed = {key: name for key, name in self.world.observed.items() if key in left}
            self.world, news = dataclasses.replace(self.world, operators={0: 4}, observed=observed), None
            self.mine, self.whole = wish.within(self.mine, left), wish.within(self.whole, left)
        if event.plan is not None:
            self.mine = wish.adopt(self.mine, event.plan, self.world.observed)
            self.whole = wish.adopt(self.whole, event.plan, self.world.observed)
        before = self.whole.told
        self.mine, told = self.looks.step(self.mine, self.world, news)
        self.whole, all_told = registration.step(self.whole, self.world)
        assert self.mine == self.whole
        assert told.items() <= all_told.items()
        repeated = {key: owner for key, owner in all_told.items() if key not in told}
        assert repeated.items() <= {**before, **self.world.given}.items(), "the bridge knows them"
        assert not repeated or not (self.world.boundary or self.world.idle)
        self.world = dataclasses.replace(self.world, given={})


@settings(max_examples=400, deadline=None)
@given(st.lists(events, max_size=14))
def test_a_look_at_what_has_changed_is_one_at_everything(some: list[Event]) -> None:
    beside = Beside()
    beside.look(Event({}, {"given": START.given}))
    for event in some:
        beside.look(event)


class Counted:
    """A query whose groups run where they are wanted, and how many of its looks went through all of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, state: Wish, world: World) -> None:
        self.whole = 0
        self.looks, self.state, self.world = Looks(), state, world
        self._step: Callable[[Wish, World], steady.Step] = registration.step
        monkeypatch.setattr(registration, "step", self._counted)
        for _ in range(3):  # until one has changed nothing
            self.look({})
        self.whole = 0

    def _counted(self, state: Wish, world: World) -> steady.Step:
        self.whole += 1
        return self._step(state, world)

    def look(self, ran: dict[GroupKey, str], **fields: object) -> dict[GroupKey, str]:
        self.world = dataclasses.replace(self.world, observed={**self.world.observed, **ran}, **fields)
        self.state, told = self.looks.step(self.state, self.world, ran.keys())
        return told


RUNNING = dict(zip(KEYS, "1231231", strict=True))
PLACED = Wish(registered=RUNNING, planned=True)
MIDDLE = World(operators=OPERATORS, live=NAMES, observed=RUNNING, boundary=False)


def test_nothing_is_looked_through_where_tasks_run_as_they_did(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch, PLACED, MIDDLE)
    state = counted.state
    assert [counted.look(ran) for ran in ({}, {A: "1"}, {}, {B: "2"})] == [{}] * 4
    assert counted.state is state
    counted.look({}, boundary=True)
    counted.look({}, boundary=False, idle=True)
    assert (counted.whole, counted.state is state) == (0, True), "nor does a batch's end make a difference"


def test_moves_that_are_obeyed_and_tasks_that_are_stolen_are_counted_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = {**RUNNING, A: "2", B: "3"}
    moving = dataclasses.replace(PLACED, registered=asked, told=asked, goals={A: "2", B: "3"}, recent={A: 0, B: 0})
    counted = Counted(monkeypatch, moving, MIDDLE)
    assert counted.look({A: "2"}) == {}
    assert (counted.state.goals, counted.state.asked, counted.state.recent) == ({B: "3"}, {B: 0}, {B: 0})
    assert (counted.state.done, counted.state.done_total) == (1, 1)
    assert counted.look({C: "1"}) == {C: "3"}, "stolen: it is registered again where it is wanted"
    assert counted.state.asked == {B: 0, C: 0}
    assert counted.look({B: "3", C: "3"}) == {}
    assert (counted.state.goals, counted.state.asked, counted.whole) == ({}, {}, 0)


def test_a_first_batch_is_gone_through_once_though_tasks_end_between_all_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Wish(registered=RUNNING, told=RUNNING)
    counted = Counted(monkeypatch, given, dataclasses.replace(MIDDLE, observed={}))
    counted.look({A: "1"})
    counted.look({B: "2", C: "1"})  # stolen
    begun = counted.whole
    assert counted.look({D: "2", KEYS[4]: "2"}) == {D: "1"}
    assert counted.look({C: "3"}) == {}
    assert (counted.whole, counted.state.asked) == (begun, {D: 0})


@pytest.mark.parametrize(
    "fields",
    [
        {"live": ("1", "2")},
        {"shut": frozenset("3")},
        {"given": {A: "2"}},
        {"first_traffic": TRAFFIC},
        {"operators": {0: 4}},
    ],
    ids=["lost", "marked", "given", "traffic", "planned anew"],
)
def test_what_else_changes_is_looked_at_as_a_whole(monkeypatch: pytest.MonkeyPatch, fields: dict[str, object]) -> None:
    counted = Counted(monkeypatch, PLACED, MIDDLE)
    counted.look({}, **fields)
    assert counted.whole > 0


def test_so_is_a_state_that_somebody_else_has_made(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch, PLACED, MIDDLE)
    counted.state = dataclasses.replace(counted.state, told={})
    counted.look({})
    assert counted.whole > 0


def test_a_look_that_failed_leaves_nothing_to_go_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(monkeypatch, PLACED, MIDDLE)

    def fails(*_: object) -> steady.Step:
        raise RuntimeError("not now")

    with monkeypatch.context() as broken:
        broken.setattr(steady, "follow", fails)
        with pytest.raises(RuntimeError):
            counted.look({A: "2"})
    counted.look({})
    assert counted.whole > 0
    assert counted.state.asked == {A: 0}
