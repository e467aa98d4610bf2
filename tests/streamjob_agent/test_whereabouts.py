"""What follows from where key groups are, brought up to date group by group, beside its plain definition."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_agent.spread import group_keys
from streamjob_agent.whereabouts import Whereabouts
from streamjob_agent.wire import GroupKey

OPERATORS = {0: 2, 3: 1}
KEYS = (*group_keys(OPERATORS), GroupKey(operator=3, partition=1), GroupKey(operator=7, partition=0))
"""The last two are of no operator that the plan has now."""
A, B, C = KEYS[:3]
owners = st.dictionaries(st.sampled_from(KEYS), st.sampled_from("123"))
steps = st.lists(st.tuples(owners, st.none() | owners, st.booleans()), max_size=8)


def plain_held(observed: dict[GroupKey, str], registered: dict[GroupKey, str], obeying: set[GroupKey]) -> Counter[str]:
    """Each group counts once at each executor that it is observed or registered at; an obeying one at the latter."""
    held: Counter[str] = Counter()
    for key in observed.keys() | registered.keys():
        wanted, ran = registered.get(key), observed.get(key)
        places = {wanted} if wanted and key in obeying else {wanted, ran}
        held.update(place for place in places if place is not None)
    return held


@settings(max_examples=200, deadline=None)
@given(steps, st.sets(st.sampled_from(KEYS)), owners)
def test_it_is_what_one_would_find_by_going_through_all(
    some: list[tuple[dict[GroupKey, str], dict[GroupKey, str] | None, bool]],
    obeying: set[GroupKey],
    elsewhere: dict[GroupKey, str],
) -> None:
    where, observed, registered, news = Whereabouts(), dict[GroupKey, str](), dict[GroupKey, str](), set[GroupKey]()
    where.update(observed, None, registered)
    assert where.news() is None
    for ran, wanted, told in some:
        moved = {key: observed.get(key) for key in ran}
        observed = {**observed, **ran}
        registered = registered if wanted is None else wanted
        where.update(observed, moved, registered)
        news |= {key for key, before in moved.items() if before != observed[key]}
        apart = {key: name for key, name in observed.items() if registered.get(key) != name}
        assert where.apart == apart
        assert set(where.executors) == set(observed.values())
        assert where.held(obeying & apart.keys()) == plain_held(observed, registered, obeying & apart.keys())
        for patch in ({}, elsewhere):
            homes = {**observed, **patch}
            assert where.rows(OPERATORS, patch) == {
                operator: tuple(homes.get(GroupKey(operator=operator, partition=at)) for at in range(count))
                for operator, count in OPERATORS.items()
            }
        if told:
            assert where.news() == news
            news = set()


def test_groups_that_are_dropped_are_counted_no_more() -> None:
    where = Whereabouts()
    where.update({A: "1", B: "2", C: "2"}, None, {A: "1", B: "2", C: "2"})
    assert where.rows(OPERATORS, {}) == {0: ("1", "2"), 3: ("2",)}
    where.update({A: "1"}, None, {A: "1"})
    assert (where.held(()), set(where.executors)) == ({"1": 1}, {"1"})
    assert where.rows({0: 1}, {}) == {0: ("1",)}
    assert where.news() is None


def test_rows_that_nothing_has_changed_are_the_same_object() -> None:
    where, observed = Whereabouts(), {A: "1", B: "2"}
    where.update(observed, None, observed)
    rows = where.rows(OPERATORS, {})
    where.update(observed, {}, observed)
    assert where.rows(OPERATORS, {}) is rows
    where.update({**observed, B: "1"}, {B: "2"}, observed)
    assert where.rows(OPERATORS, {}) == {0: ("1", "1"), 3: (None,)}
    assert rows == {0: ("1", "2"), 3: (None,)}, "others read it"


def test_a_group_that_was_there_and_back_is_no_news() -> None:
    where, observed = Whereabouts(), {A: "1"}
    where.update(observed, None, observed)
    where.news()
    where.update(observed, {A: "1"}, observed)
    assert where.news() == set()
