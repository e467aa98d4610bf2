"""Registration on paper: a world of executors that obey or not, die and come, and plans of any shape."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_agent import registration, wish
from streamjob_agent.spread import group_keys
from streamjob_agent.wire import Assignment, GroupKey, Pace
from streamjob_agent.wish import Wish, World

OPERATORS = {0: 4, 1: 4}
KEYS = group_keys(OPERATORS)
NAMES = ("0", "1", "2", "3", "10")


def plan(owners: dict[GroupKey, str | None], pace: Pace | None = None, **fields: object) -> Assignment:
    rows = {
        operator: tuple(owners.get(GroupKey(operator=operator, partition=p)) for p in range(count))
        for operator, count in OPERATORS.items()
    }
    return Assignment(generation=1, application_id="a", query_id="q", owners=rows, pace=pace or Pace(), **fields)  # type: ignore[arg-type]


@dataclasses.dataclass
class Paper:
    """Spark on paper: after each step, the groups that obey run where they are registered."""

    live: tuple[str, ...]
    shut: frozenset[str] = frozenset()
    state: Wish = dataclasses.field(default_factory=Wish)
    ran: dict[GroupKey, str] = dataclasses.field(default_factory=dict)
    stubborn: frozenset[GroupKey] = frozenset()
    sizes: dict[GroupKey, int] = dataclasses.field(default_factory=dict)
    pinned: frozenset[GroupKey] = frozenset()

    def world(self, boundary: bool = True) -> World:
        return World(
            operators=OPERATORS,
            live=self.live,
            shut=self.shut,
            observed=dict(self.ran),
            state_bytes=self.sizes,
            pinned=self.pinned,
            boundary=boundary,
        )

    def step(self, boundary: bool = True) -> dict[GroupKey, str]:
        self.state, owners = registration.step(self.state, self.world(boundary))
        assert all(owner in self.live and owner not in self.shut for owner in owners.values())
        return owners

    def batch(self) -> set[GroupKey]:
        """One batch; gives the groups whose tasks moved."""
        before = dict(self.ran)
        for number, key in enumerate(KEYS):
            wanted = self.state.registered.get(key)
            if not before:  # the bridge's own placement
                self.ran[key] = self.live[number % len(self.live)]
            elif wanted in self.live and wanted is not None and not (key in self.stubborn and key in self.ran):
                self.ran[key] = wanted
            elif self.ran.get(key) not in self.live:
                self.ran[key] = self.live[0]
        return {key for key in KEYS if before.get(key, self.ran[key]) != self.ran[key]}

    def adopt(self, assignment: Assignment) -> None:
        self.state = wish.adopt(self.state, assignment, self.ran)


def running(live: tuple[str, ...] = ("0", "1", "2"), **fields: object) -> Paper:
    paper = Paper(live=live, **fields)  # type: ignore[arg-type]
    assert paper.step() == {}
    paper.batch()
    paper.step()
    return paper


def test_before_its_first_task_a_query_is_the_bridges_whoever_comes_meanwhile() -> None:
    paper = Paper(live=("0", "1", "2"))
    assert paper.step() == {}
    paper.live = ("0", "1", "2", "3")
    given = {key: ("0", "1", "2")[number % 3] for number, key in enumerate(KEYS)}
    paper.state, told = registration.step(paper.state, dataclasses.replace(paper.world(), given=given))
    assert told == {}
    assert paper.step() == {}
    assert paper.state.registered == given


def test_what_the_bridge_gave_is_taken_over_and_not_answered() -> None:
    paper = running()
    orphans = [key for key, owner in paper.ran.items() if owner == "0"]
    paper.live = ("1", "2")
    given = dict.fromkeys(orphans, "2")  # by its own lights: ours would have been another choice
    paper.state, told = registration.step(paper.state, dataclasses.replace(paper.world(boundary=False), given=given))
    assert set(told.items()) == set(given.items())  # they have not run there yet
    assert {key: paper.state.registered[key] for key in orphans} == given
    assert paper.state.guard_total == len(orphans)
    paper.batch()
    assert paper.step() == {}


def test_what_the_bridge_gave_to_somebody_dead_is_given_anew() -> None:
    paper = running()
    orphan = next(key for key, owner in paper.ran.items() if owner == "0")
    paper.live = ("1", "2")
    world = dataclasses.replace(paper.world(boundary=False), given={orphan: "0"})
    _, told = registration.step(paper.state, world)
    assert told[orphan] in ("1", "2")


def test_nothing_moves_without_an_assignment() -> None:
    paper = running()
    paper.live = ("0", "1", "2", "3")
    for _ in range(5):
        assert paper.step() == {}
        assert paper.batch() == set()


owner_maps = st.fixed_dictionaries({key: st.sampled_from([*NAMES, None]) for key in KEYS})
paces = st.builds(
    Pace,
    max_moves=st.none() | st.integers(0, 4),
    max_state_bytes=st.none() | st.integers(0, 5000),
    max_cost_s=st.none() | st.floats(0, 3),
)
sizes_maps = st.fixed_dictionaries({key: st.integers(0, 3000) for key in KEYS})
cost_maps = st.fixed_dictionaries({key: st.floats(0, 2) for key in KEYS})


@settings(max_examples=150, deadline=None)
@given(owners=owner_maps, pace=paces, sizes=sizes_maps, costs=cost_maps)
def test_obeyed_plans_converge_within_the_pace(
    owners: dict[GroupKey, str | None], pace: Pace, sizes: dict[GroupKey, int], costs: dict[GroupKey, float]
) -> None:
    paper = running(live=NAMES, sizes=sizes)
    paper.adopt(plan(owners, pace, move_cost_s=costs))
    asked = paper.state.moves_pending
    for _ in range(len(KEYS) + 1):
        paper.step()
        moved = paper.batch()
        within = (
            len(moved) <= (len(KEYS) if pace.max_moves is None else pace.max_moves)
            and sum(sizes[key] for key in moved) <= (1e9 if pace.max_state_bytes is None else pace.max_state_bytes)
            and sum(costs[key] for key in moved) <= (1e9 if pace.max_cost_s is None else pace.max_cost_s)
        )
        assert within or len(moved) == 1
        assert moved or paper.state.moves_pending == 0 or not paper.step()
    assert all(owner is None or paper.ran[key] == owner for key, owner in owners.items())
    assert (paper.state.moves_pending, paper.state.moves_failed, paper.state.done) == (0, 0, asked)


def test_moves_follow_the_given_order() -> None:
    paper = running()
    order = (KEYS[5], KEYS[2], KEYS[7])
    targets = {key: "2" if paper.ran[key] != "2" else "0" for key in KEYS}
    paper.adopt(plan(dict(targets), Pace(max_moves=1), move_order=order))
    moved = []
    for _ in range(len(KEYS)):
        paper.step()
        moved += list(paper.batch())
    assert tuple(moved[:3]) == order
    assert moved[3:] == sorted(set(KEYS) - set(order))


def test_disobeyed_moves_are_asserted_again_reported_and_counted_once_obeyed() -> None:
    paper = running()
    key = KEYS[0]
    paper.stubborn = frozenset([key])
    paper.adopt(plan({key: "2"}))
    assert paper.ran[key] != "2"
    for boundary in range(8):
        assert paper.step() == {key: "2"}
        paper.batch()
        assert paper.state.moves_failed == (1 if boundary > 4 else 0)
        assert paper.state.moves_pending == (0 if boundary > 4 else 1)
    paper.stubborn = frozenset()
    paper.step()
    paper.batch()
    assert paper.step() == {}
    assert (paper.state.done, paper.state.moves_failed, paper.state.failed_total) == (1, 0, 1)


def test_a_move_whose_target_is_lost_counts_once_as_failed() -> None:
    paper = running()
    lost = [key for key in KEYS if paper.ran[key] != "2"][:2]
    paper.stubborn = frozenset(lost)
    paper.adopt(plan(dict.fromkeys(lost, "2")))
    for _ in range(2):
        paper.step()
        paper.batch()
    paper.live = ("0", "1")
    for _ in range(3):
        paper.step()
        paper.batch()
        assert (paper.state.moves_pending, paper.state.moves_failed, paper.state.failed_total) == (0, 2, 2)


def test_a_move_that_failed_before_its_target_was_lost_is_not_counted_twice() -> None:
    paper = running()
    key = next(key for key in KEYS if paper.ran[key] != "2")
    paper.stubborn = frozenset([key])
    paper.adopt(plan({key: "2"}))
    for _ in range(8):
        paper.step()
        paper.batch()
    assert paper.state.failed_total == 1
    paper.live = ("0", "1")
    paper.step()
    assert (paper.state.moves_failed, paper.state.failed_total) == (1, 1)


@pytest.mark.parametrize(
    ("pace", "sizes"), [(Pace(max_cost_s=1.0), {}), (Pace(max_state_bytes=1000), dict.fromkeys(KEYS, 600))]
)
def test_a_move_that_is_not_obeyed_for_two_boundaries_takes_its_share_of_the_pace(
    pace: Pace, sizes: dict[GroupKey, int]
) -> None:
    paper = running(sizes=sizes)
    moved = [key for key in KEYS if paper.ran[key] != "2"][:3]
    paper.stubborn = frozenset(moved[:1])
    paper.adopt(plan(dict.fromkeys(moved, "2"), pace, move_order=tuple(moved), move_cost_s=dict.fromkeys(moved, 0.6)))
    for _ in range(4):
        paper.step()
        paper.batch()
    assert paper.ran[moved[1]] == "2"  # one boundary more is what any move may take
    assert paper.ran[moved[2]] != "2"  # 0.6 s and 0.6 s, or 600 bytes and 600, are more than a boundary bears


def test_a_failing_move_does_not_block_the_others() -> None:
    paper = running()
    paper.stubborn = frozenset([KEYS[0]])
    paper.adopt(plan(dict.fromkeys(KEYS, "2"), Pace(max_moves=1), move_order=(KEYS[0],)))
    for _ in range(len(KEYS) + 8):
        paper.step()
        paper.batch()
    assert all(paper.ran[key] == "2" for key in KEYS[1:])
    assert paper.state.moves_failed == 1


def test_a_query_without_a_plan_leaves_shut_executors_gradually() -> None:
    """Another query's plan marks an executor of the driver that both share."""
    paper = running()
    paper.shut = frozenset(["0"])
    held = {key for key, owner in paper.ran.items() if owner == "0"}
    assert paper.step(boundary=False) == {}
    left = []
    for _ in range(len(KEYS)):
        left.append(len(paper.step()))
        paper.batch()
    assert left[0] == 1
    assert sum(left) == len(held)
    counts = Counter(paper.ran.values())
    assert set(counts) == {"1", "2"}
    assert counts["1"] == counts["2"]


def test_an_idle_query_without_a_plan_need_not_wait_for_a_batch() -> None:
    paper = running()
    paper.shut = frozenset(["0"])
    world = dataclasses.replace(paper.world(boundary=False), idle=True)
    for _ in range(len(KEYS)):
        paper.state, _ = registration.step(paper.state, world)
    assert "0" not in paper.state.registered.values()


def test_between_two_batches_a_plan_begins_at_once_and_without_limits_it_is_all_released() -> None:
    paper = running()
    paper.adopt(plan(dict.fromkeys(KEYS, "1"), pace=Pace(max_moves=2)))
    world = dataclasses.replace(paper.world(boundary=False), idle=True)
    for _ in range(3):  # the pace of one boundary is used once
        paper.state, _ = registration.step(paper.state, world)
    moved = [key for key in KEYS if paper.state.registered[key] == "1" != paper.ran[key]]
    assert len(moved) == 2
    paper.adopt(plan(dict.fromkeys(KEYS, "1")))
    paper.state, _ = registration.step(paper.state, world)
    assert set(paper.state.registered.values()) == {"1"}


def test_a_query_with_a_plan_leaves_the_drain_to_it() -> None:
    paper = running()
    paper.shut = frozenset(["0"])
    paper.adopt(plan({}))
    assert paper.step() == {}


def test_groups_of_a_query_that_ran_before_stay_where_they_are() -> None:
    world = World(operators=OPERATORS, live=("0", "1"))
    state, owners = registration.step(Wish(), world)
    assert owners == {}
    piled = dict.fromkeys(KEYS, "0")
    state, owners = registration.step(state, dataclasses.replace(world, observed=piled))
    assert owners == {}
    assert state.registered == piled


def test_moves_start_only_at_boundaries() -> None:
    paper = running()
    paper.adopt(plan({KEYS[0]: "2"}))
    assert paper.step(boundary=False) == {}
    assert paper.step(boundary=True) == {KEYS[0]: "2"}


def test_groups_of_a_dead_executor_are_rescued_at_once_evenly_and_beyond_the_pace() -> None:
    paper = running()
    paper.adopt(plan({}, Pace(max_moves=1)))
    orphans = {key for key, owner in paper.ran.items() if owner == "0"}
    paper.live = ("1", "2")
    owners = paper.step(boundary=False)
    assert owners.keys() == orphans
    counts = Counter({**paper.ran, **owners}.values())
    assert counts["1"] == counts["2"]
    assert paper.state.guard_total == len(orphans)


def test_rescue_spreads_by_measured_work() -> None:
    paper = running()
    heavy = {key: (9.0 if owner == "1" else 1.0) for key, owner in paper.ran.items()}
    paper.live = ("1", "2")
    world = dataclasses.replace(paper.world(), busy_s=heavy)
    _, owners = registration.step(paper.state, world)
    assert set(owners.values()) == {"2"}


def test_target_that_dies_in_mid_move_fails_the_move_and_the_group_stays() -> None:
    paper = running()
    key = next(key for key in KEYS if paper.ran[key] == "0")
    paper.adopt(plan({key: "2"}))
    assert paper.step() == {key: "2"}
    paper.live = ("0", "1")
    assert paper.step()[key] == "0"  # the bridge wants it where it was told before, and would rescue it from there
    paper.batch()
    assert key not in paper.step()
    assert (paper.state.moves_pending, paper.state.moves_failed) == (0, 1)


def test_a_pinned_group_stays_until_its_executor_goes() -> None:
    paper = running()
    one, other = [key for key in KEYS if paper.ran[key] == "0"][:2]
    paper.pinned = frozenset({one})
    paper.adopt(plan({one: "2", other: "2"}))
    assert paper.step() == {other: "2"}
    assert (paper.state.moves_pending, paper.state.moves_failed) == (1, 1)
    paper.batch()
    paper.step()
    assert (paper.ran[one], paper.ran[other], paper.state.done) == ("0", "2", 1)

    paper.shut = frozenset({"0"})
    paper.adopt(plan({one: "2"}))
    assert paper.step() == {one: "2"}
    paper.live = ("1", "2")
    paper.shut = frozenset()
    paper.ran[one] = "0"
    paper.state = dataclasses.replace(paper.state, registered={**paper.state.registered, one: "0"})
    assert paper.step()[one] == "2", "whose executor is gone has to be opened elsewhere"


def test_a_pinned_group_waits_for_no_executor_to_come() -> None:
    paper = running()
    one = next(key for key in KEYS if paper.ran[key] == "0")
    paper.pinned = frozenset({one})
    rows = {operator: [None] * count for operator, count in OPERATORS.items()}
    rows[one.operator][one.partition] = 1  # type: ignore[call-overload]
    arrivals = {operator: tuple(row) for operator, row in rows.items()}
    paper.adopt(plan(dict(paper.ran), arrivals=arrivals, known_executors=paper.live))
    paper.live = (*paper.live, "3")
    assert paper.step() == {}
    paper.batch()
    assert paper.step() == {}
    assert paper.ran[one] == "0"


def test_orphan_with_a_living_target_goes_straight_there() -> None:
    paper = running()
    orphans = {key for key, owner in paper.ran.items() if owner == "0"}
    paper.adopt(plan(dict.fromkeys(orphans, "2"), Pace(max_moves=1)))
    paper.live = ("1", "2")
    assert paper.step(boundary=False) == dict.fromkeys(orphans, "2")


@settings(max_examples=150, deadline=None)
@given(
    owners=owner_maps,
    events=st.lists(st.tuples(st.sampled_from(["kill", "shut", "add", "none"]), st.sampled_from(NAMES)), max_size=8),
    stubborn=st.sets(st.sampled_from(KEYS), max_size=3),
)
def test_never_on_dead_or_shut_executors_whatever_happens(
    owners: dict[GroupKey, str | None], events: list[tuple[str, str]], stubborn: set[GroupKey]
) -> None:
    paper = running(live=NAMES, stubborn=frozenset(stubborn))
    paper.adopt(plan(owners, Pace(max_moves=2)))
    for event, name in events:
        if event == "kill" and len(paper.live) > 1:
            paper.live = tuple(other for other in paper.live if other != name)
        elif event == "shut":
            paper.shut = paper.shut | {name}
        elif event == "add" and name not in paper.live:
            paper.live = (*paper.live, name)
        paper.step()  # asserts that no dead or shut executor is given anything
        paper.batch()
    paper.stubborn = frozenset()
    for _ in range(2 * len(KEYS) + 10):
        paper.step()
        paper.batch()
    assert paper.state.moves_pending == 0
    assert paper.step() == {}
    assert all(paper.ran[key] in paper.live for key in KEYS)


def test_drift_that_nobody_planned_is_asserted_against_and_then_accepted() -> None:
    paper = running()
    key = KEYS[0]
    home = paper.ran[key]
    away = next(name for name in paper.live if name != home)
    paper.stubborn = frozenset([key])
    paper.ran[key] = away
    assert paper.step() == {key: home}
    told = []
    for _ in range(10):
        told.append(paper.step())
        paper.batch()
    # The bridge is told that the wish has changed, or it would go on to register the old one before each batch.
    assert told == [{key: home}] * 3 + [{key: away}] + [{}] * 6
    assert paper.state.registered[key] == away


def test_drift_onto_an_executor_that_is_to_go_is_never_accepted() -> None:
    paper = running()
    key = KEYS[0]
    home = paper.ran[key]
    away = next(name for name in paper.live if name != home)
    paper.shut = frozenset([away])
    paper.adopt(plan(dict.fromkeys(KEYS)))
    paper.stubborn = frozenset([key])
    paper.ran[key] = away
    for _ in range(20):
        assert paper.step()[key] == home
        paper.batch()
    paper.stubborn = frozenset()
    paper.step()
    paper.batch()
    assert paper.ran[key] == home


def coming(places: dict[GroupKey, int], known: tuple[str, ...], pace: Pace | None = None) -> Assignment:
    rows = {
        operator: tuple(places.get(GroupKey(operator=operator, partition=p)) for p in range(count))
        for operator, count in OPERATORS.items()
    }
    stay: dict[GroupKey, str | None] = dict.fromkeys(KEYS)
    return plan(stay, pace, arrivals=rows, known_executors=known)


def homes(paper: Paper, name: str) -> set[GroupKey]:
    return {key for key, owner in paper.ran.items() if owner == name}


def test_an_executor_that_comes_carries_its_share_in_the_first_batch_after() -> None:
    paper = running()
    share = {KEYS[0]: 1, KEYS[4]: 1, KEYS[5]: 2}
    paper.adopt(coming(share, paper.live))
    assert paper.step() == {}
    assert (paper.state.moves_pending, len(paper.state.places)) == (0, 3)
    assert paper.batch() == set()
    paper.live = ("0", "1", "2", "10")
    assert paper.step(boundary=False) == {}  # it came while a batch ran
    paper.step()
    paper.batch()
    assert homes(paper, "10") == {KEYS[0], KEYS[4]}
    paper.step()
    assert (paper.state.done, paper.state.arrived, len(paper.state.places)) == (2, ("10",), 1)


def test_places_go_by_the_order_of_coming_and_only_to_strangers() -> None:
    paper = running()
    paper.adopt(coming({KEYS[0]: 1, KEYS[1]: 2}, (*paper.live, "7")))
    paper.live = (*paper.live, "7", "9")  # 7 was known, though it was not ready
    paper.step()
    paper.batch()
    paper.live = (*paper.live, "8", "11")  # 8 came later than 9; nobody asked for 11
    paper.step()
    paper.batch()
    assert paper.state.arrived == ("9", "8")
    assert [homes(paper, name) for name in ("7", "9", "8", "11")] == [set(), {KEYS[0]}, {KEYS[1]}, set()]


def test_between_two_batches_an_executor_that_comes_gets_its_share_at_once_within_the_pace() -> None:
    paper = running()
    paper.adopt(coming(dict.fromkeys(KEYS[:4], 1), paper.live, Pace(max_moves=3)))
    paper.step()
    paper.live = (*paper.live, "10")
    world = dataclasses.replace(paper.world(boundary=False), idle=True)
    paper.state, told = registration.step(paper.state, world)
    assert told == dict.fromkeys(KEYS[:3], "10")
    paper.state, again = registration.step(paper.state, world)
    assert set(again) <= set(told)  # the pace of one boundary is used up
    assert len(paper.batch()) == 3
    paper.step()
    assert paper.batch() == {KEYS[3]}


def test_a_place_whose_executor_dies_is_a_move_that_failed_and_the_next_plan_replaces_places() -> None:
    paper = running()
    paper.adopt(coming({KEYS[0]: 1, KEYS[1]: 2}, paper.live))
    paper.live = (*paper.live, "10")
    paper.step(boundary=False)
    paper.live = paper.live[:-1]
    paper.step()
    assert (paper.state.moves_failed, paper.state.places) == (1, {KEYS[1]: 2})
    paper.adopt(coming({KEYS[2]: 1}, paper.live))
    assert (paper.state.moves_failed, paper.state.places, paper.state.arrived) == (0, {KEYS[2]: 1}, ())


def test_a_plan_without_owners_leaves_moves_and_places_as_they_are() -> None:
    paper = running()
    away = {key: "2" for key in KEYS if paper.ran[key] == "0"}
    paper.adopt(dataclasses.replace(plan(dict(away)), arrivals={0: (1, None, None, None)}))
    before = paper.state
    assert before.goals
    assert before.places
    paper.adopt(Assignment(generation=2, application_id="a", query_id="q", marked_for_removal=("1",)))
    assert paper.state == before


@settings(max_examples=60, deadline=None)
@given(
    places=st.dictionaries(st.sampled_from(KEYS), st.integers(1, 3)),
    order=st.permutations(["10", "11", "12"]),
    gaps=st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_whoever_comes_when_each_gets_its_place(
    places: dict[GroupKey, int], order: list[str], gaps: list[bool]
) -> None:
    paper = running()
    before = dict(paper.ran)
    paper.adopt(coming(places, paper.live))
    came: list[str] = []
    for name, mid_batch in zip(order, gaps, strict=True):
        paper.live, came = (*paper.live, name), [*came, name]
        paper.step(boundary=not mid_batch)
        paper.step()
        paper.batch()
        wanted = {key: came[places[key] - 1] if places.get(key, 9) <= len(came) else before[key] for key in KEYS}
        assert paper.ran == wanted
