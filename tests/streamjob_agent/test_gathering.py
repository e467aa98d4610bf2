"""The first spread once traffic is known: as even as before, never less local, as it was where nothing is to gain."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_agent.bridge import Sent, Traffic, TrafficReading
from streamjob_agent.gathering import gather, local_bytes
from streamjob_agent.spread import group_keys
from streamjob_agent.wire import GroupKey

Amounts = Mapping[tuple[GroupKey, GroupKey], int]
CHAIN = (2, 1, 0)
"""Operators from the sources on, as Spark numbers them: the one next to the sink is 0."""


def key(operator: int, partition: int) -> GroupKey:
    return GroupKey(operator=operator, partition=partition)


def spread(operators: Mapping[int, int], executors: int) -> dict[GroupKey, str]:
    """As the bridge spreads them: one after another, each operator going on where the one before ended."""
    return {one: str(number % executors) for number, one in enumerate(group_keys(operators))}


def reading(amounts: Amounts) -> TrafficReading:
    pairs = tuple(
        Traffic(from_key=one, to_key=other, size_bytes=size) for (one, other), size in amounts.items() if size
    )
    sent: Counter[GroupKey] = Counter()
    for pair in pairs:
        sent[pair.from_key] += pair.size_bytes
    return TrafficReading(pairs=pairs, sent={one: Sent(size_bytes=size, partners=1) for one, size in sent.items()})


def one_to_one(groups: int, size: int, operators: tuple[int, ...] = (1, 0), seed: int = 1) -> dict:
    """Each group of an operator sends to one of the next, which chance has chosen."""
    amounts = {}
    for sender, receiver in itertools.pairwise(operators):
        partners = random.Random(seed).sample(range(groups), groups)
        amounts |= {(key(sender, p), key(receiver, partners[p])): size for p in range(groups)}
    return amounts


def all_to_all(groups: int, size: int, off: float, seed: int = 1) -> dict:
    """Each sends about as much to each: sizes are off by this part at most."""
    chance = random.Random(seed)
    cells = itertools.product(range(groups), repeat=2)
    return {(key(1, p), key(0, q)): round(size * chance.uniform(1.0 - off, 1.0 + off)) for p, q in cells}


def counts(owners: Mapping[GroupKey, str]) -> Counter[tuple[int, str]]:
    return Counter((one.operator, owner) for one, owner in owners.items())


def after(owners: Mapping[GroupKey, str], amounts: Amounts) -> dict[GroupKey, str]:
    return {**owners, **gather(owners, reading(amounts))}


def local_pct(owners: Mapping[GroupKey, str], amounts: Amounts) -> float:
    return 100.0 * local_bytes(owners, reading(amounts).pairs) / sum(amounts.values())


@pytest.mark.parametrize("executors", [2, 4, 8])
def test_pairs_come_together(executors: int) -> None:
    owners, amounts = spread({0: 16, 1: 16}, executors), one_to_one(16, 1000)
    assert local_pct(owners, amounts) < 70.0
    assert local_pct(after(owners, amounts), amounts) == 100.0


def test_a_chain_follows_from_the_source_on() -> None:
    owners, amounts = spread(dict.fromkeys(CHAIN, 12), 4), one_to_one(12, 1000, CHAIN)
    found = after(owners, amounts)
    assert local_pct(found, amounts) == 100.0
    assert all(found[one] == owner for one, owner in owners.items() if one.operator == CHAIN[0])


def test_where_operators_have_their_surplus_on_different_executors_all_but_that_comes_together() -> None:
    owners, amounts = spread({0: 8, 1: 8}, 3), one_to_one(8, 1000)
    assert counts(owners) == {(0, "0"): 3, (0, "1"): 3, (0, "2"): 2, (1, "0"): 3, (1, "1"): 2, (1, "2"): 3}
    found = after(owners, amounts)
    assert (local_pct(found, amounts), counts(found)) == (100.0 * 7 / 8, counts(owners))


@pytest.mark.parametrize(("executors", "groups"), [(2, 16), (3, 8), (10, 40)])
def test_shuffles_that_send_to_all_alike_change_nothing(executors: int, groups: int) -> None:
    """Sizes are told within a tenth."""
    for seed in range(20):
        assert gather(spread({0: groups, 1: groups}, executors), reading(all_to_all(groups, 5000, 0.1, seed))) == {}


def test_half_one_to_one_and_half_to_all_comes_together_as_the_pairs_alone() -> None:
    owners, pairs = spread({0: 16, 1: 16}, 2), one_to_one(16, 16_000)
    both = {cell: size + pairs.get(cell, 0) for cell, size in all_to_all(16, 1000, 0.1).items()}
    assert local_pct(after(owners, both), pairs) == 100.0


def test_a_little_that_could_become_local_moves_nothing() -> None:
    owners, quiet = spread({0: 16, 1: 16}, 2), {(key(1, 0), key(0, 0)): 1, (key(1, 0), key(0, 1)): 1}
    most = reading({**quiet, **one_to_one(16, 100)})
    assert gather(owners, most)
    loud = TrafficReading(pairs=most.pairs, sent={key(1, 0): Sent(size_bytes=100_000, partners=16)})
    assert gather(owners, loud) == {}


def test_groups_that_gain_nothing_stay_where_they_are() -> None:
    owners = spread({0: 8, 1: 8}, 2)
    apart = {(key(1, p), key(0, p ^ 1 if p < 2 else p)): 1000 for p in range(8)}
    assert gather(owners, reading(apart)) == {key(0, 0): "1", key(0, 1): "0"}


def test_pinned_groups_stay_and_others_come_to_them() -> None:
    owners, amounts = spread({0: 8, 1: 8}, 2), one_to_one(8, 1000)
    pinned = frozenset({key(0, 0), key(1, 1), key(9, 0)})
    moved = gather(owners, reading(amounts), pinned)
    assert moved
    assert pinned.isdisjoint(moved)
    assert counts({**owners, **moved}) == counts(owners)
    everywhere = frozenset(owners)
    assert gather(owners, reading(amounts), everywhere) == {}


def test_groups_and_owners_that_are_not_known_do_not_count() -> None:
    owners = spread({0: 4, 1: 4}, 2)
    amounts = {**one_to_one(4, 1000), (key(7, 0), key(0, 0)): 10**9, (key(1, 0), key(0, 9)): 10**9}
    told = TrafficReading(pairs=reading(amounts).pairs)
    assert {one.operator for one in gather(owners, told)} <= {0}
    assert gather({}, told) == {}


class Counted(dict[GroupKey, str]):
    """Owners that count how often they are asked."""

    asked = 0

    def __getitem__(self, one: GroupKey) -> str:
        self.asked += 1
        return super().__getitem__(one)


def test_ten_thousand_key_groups_are_looked_at_a_few_times_each() -> None:
    owners, amounts = Counted(spread({0: 5000, 1: 5000}, 100)), one_to_one(5000, 1000)
    told = reading(amounts)
    found = gather(owners, told)
    assert local_pct({**owners, **found}, amounts) == 100.0
    assert owners.asked <= 10 * (len(owners) + len(told.pairs))


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[GroupKey, str], dict]:
    """Any owners of up to three operators, any traffic between them."""
    operators = draw(st.dictionaries(st.integers(0, 3), st.integers(1, 6), min_size=1, max_size=3))
    keys = group_keys(operators)
    owners = {one: draw(st.sampled_from(["0", "1", "2", "10"])) for one in keys}
    cells = st.tuples(st.sampled_from(keys), st.sampled_from(keys))
    return owners, draw(st.dictionaries(cells, st.integers(1, 10**6), max_size=30))


@settings(max_examples=300, deadline=None)
@given(worlds())
def test_it_is_as_even_as_before_and_never_less_local(world: tuple[dict[GroupKey, str], dict]) -> None:
    owners, amounts = world
    told = reading(amounts)
    found = {**owners, **gather(owners, told)}
    assert counts(found) == counts(owners)
    won = local_bytes(found, told.pairs) - local_bytes(owners, told.pairs)
    assert found == owners or won > 0


@settings(max_examples=100, deadline=None)
@given(worlds(), st.randoms())
def test_the_order_of_what_is_told_changes_nothing(world: tuple[dict[GroupKey, str], dict], chance: object) -> None:
    owners, amounts = world
    turned = dict(shuffled(owners.items(), chance))
    assert gather(owners, reading(amounts)) == gather(turned, reading(dict(shuffled(amounts.items(), chance))))


def shuffled(items: object, chance: object) -> Iterator:
    found = list(items)  # type: ignore[call-overload]
    chance.shuffle(found)  # type: ignore[attr-defined]
    return iter(found)
