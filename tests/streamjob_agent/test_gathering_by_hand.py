"""The first spread once traffic is known, where few key groups and bytes say which of them moves."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from streamjob_agent.bridge import Sent, Traffic, TrafficReading
from streamjob_agent.gathering import gather
from streamjob_agent.wire import GroupKey

FROM = 9
"""The operator that sends: one key group on each executor, numbered as that."""


def key(partition: int, operator: int = 0) -> GroupKey:
    return GroupKey(operator=operator, partition=partition)


def moves(
    homes: Mapping[GroupKey, str], bytes_from: Mapping[GroupKey, Mapping[str, int]], sent_bytes: int = 0
) -> dict[GroupKey, str]:
    """Of key groups that have these homes and get so much from each executor, in the order in which it is told."""
    senders = {key(int(name), FROM): name for name in {name for one in bytes_from.values() for name in one}}
    pairs = tuple(
        Traffic(from_key=key(int(name), FROM), to_key=to, size_bytes=size)
        for to, told in bytes_from.items()
        for name, size in told.items()
    )
    sent = {key(0, FROM): Sent(size_bytes=sent_bytes, partners=1)} if sent_bytes else {}
    return gather({**homes, **senders}, TrafficReading(pairs=pairs, sent=sent))


@pytest.mark.parametrize(("sent_bytes", "moved"), [(10, {key(0): "2", key(1): "1"}), (11, {})])
def test_a_tenth_of_all_that_is_sent_is_enough_be_it_one_byte(sent_bytes: int, moved: dict[GroupKey, str]) -> None:
    assert moves({key(0): "1", key(1): "2"}, {key(0): {"2": 1}}, sent_bytes) == moved


def test_an_operator_that_would_win_nothing_stays_though_another_wins_much() -> None:
    """Its heaviest wish would take 100 in place of 50, and leave 10 and 20 of 80 and none to those who give way."""
    even = {key(0): "1", key(1): "2", key(2): "3"}
    pulls = {key(0): {"1": 50, "2": 100}, key(1): {"2": 80, "3": 10}, key(2): {"1": 20}}
    homes = {**even, key(0, 1): "1", key(1, 1): "2"}
    wins = {key(0, 1): "2", key(1, 1): "1"}
    much = {one: {executor: 1000} for one, executor in wins.items()}
    assert moves(homes, {**pulls, **much}) == wins
    less = {**pulls, key(2): {"1": 21}}
    assert set(moves(homes, {**less, **much})) == {*even, *wins}


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_that_wish_the_same_the_one_with_the_lower_number_gets_it(turned: bool) -> None:
    homes = {key(0): "1", key(1): "1", key(2): "2"}
    told = {one: {"2": 7} for one in ((key(1), key(0)) if turned else (key(0), key(1)))}
    assert moves(homes, told) == {key(0): "2", key(2): "1"}


@pytest.mark.parametrize("told", [("2", "10"), ("10", "2")])
def test_of_two_executors_that_send_the_same_the_one_with_the_lower_number_gets_the_group(
    told: tuple[str, str],
) -> None:
    homes = {key(0): "1", key(1): "2", key(2): "10"}
    assert moves(homes, {key(0): dict.fromkeys(told, 7)})[key(0)] == "2"


def test_groups_that_receive_nothing_stay_where_there_is_room_for_them() -> None:
    homes = {key(0): "2", key(1): "1", key(2): "1", key(3): "2"}
    assert moves(homes, {key(2): {"2": 7}, key(3): {"1": 7}}) == {key(2): "2", key(3): "1"}


@pytest.mark.parametrize(
    ("bytes_from", "goes"),
    [
        ({"0": 45, "1": 55}, False),  # as much and a tenth of all
        ({"0": 44, "1": 56}, True),
        ({"1": 1}, True),
        (dict.fromkeys("123456789", 1), True),  # a tenth of all is less than any of them has
        ({str(executor): 1 for executor in range(1, 12)}, False),
    ],
    ids=["a tenth more", "more than that", "all of one byte", "nine alike", "eleven alike"],
)
def test_a_group_leaves_for_an_executor_that_has_a_tenth_of_its_input_more_than_its_own(
    bytes_from: dict[str, int], goes: bool
) -> None:
    """There is room for it where it is, and where it would go; one that receives nothing makes way for it."""
    homes = {key(0): "0", key(1): "0", key(2): "1", key(3): "1"}
    found = moves(homes, {key(0): bytes_from, key(2): {"0": 1000}})
    assert found == {key(2): "0", (key(0) if goes else key(1)): "1"}
