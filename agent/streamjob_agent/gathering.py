"""The first spread once traffic is known: as even as it was, with key groups where their input comes from. Pure.

Before a query's first batch nobody knows who will send to whom, so its key groups are spread by their numbers. Spark by
itself would have run a task that has no state yet where its shuffle input lies, and left it there. What the spread took
apart by that is put together again here, once, while there is hardly any state to load (decision 0069).
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from streamjob_agent.bridge import Traffic, TrafficReading
from streamjob_agent.spread import id_order
from streamjob_agent.wire import GroupKey
from streamjob_agent.wish import Wish, World

LEAST_RATIO = 0.1
"""Part of all bytes that key groups send which has to become local; for less nothing moves. Chosen, not measured."""
STAY_RATIO = 0.1
"""Part of a key group's input by which another executor has to have more of it than its own, or it stays.

Spark keeps the sizes of shuffle blocks as powers of 1.1 (`MapStatus.compressSize`), so less may be rounding.
"""
Pulls = Mapping[GroupKey, Mapping[str, int]]
"""Bytes that each receiving key group gets from the key groups of each executor."""


def due(state: Wish, world: World) -> bool:
    """Whether it is time: traffic was read, nobody has planned the query, and no executor of its groups is to go."""
    return (
        world.first_traffic is not None
        and state.gathered is None
        and not state.planned
        and world.shut.isdisjoint(state.registered.values())
    )


def first(state: Wish, world: World) -> Wish:
    """The state with the groups registered where the first traffic draws them, once; as it was where it is not time."""
    if world.first_traffic is None or not due(state, world):
        return state
    moved = gather(state.registered, world.first_traffic, world.pinned)
    return dataclasses.replace(
        state,
        registered={**state.registered, **moved},
        asked={key: age for key, age in state.asked.items() if key not in moved},
        gathered=len(moved),
    )


def gather(
    owners: Mapping[GroupKey, str], reading: TrafficReading, pinned: Collection[GroupKey] = ()
) -> dict[GroupKey, str]:
    """The key groups that change places, with their new owners; nothing where too little would become local.

    Each operator has as many groups on each executor afterwards as before. Operators are gone through from the sources
    on, and each follows where those that it reads from are by then. The heaviest wishes are met first, so it is not
    always the best placement; one with fewer local bytes than `owners` is never given. `pinned` groups stay. Takes
    O(n log n) for n groups and pairs.
    """
    placed = dict(owners)
    groups: defaultdict[int, list[GroupKey]] = defaultdict(list)
    for key in sorted(owners):
        groups[key.operator].append(key)
    inputs: defaultdict[int, list[Traffic]] = defaultdict(list)
    for pair in reading.pairs:
        if pair.from_key in owners and pair.to_key in owners:
            inputs[pair.to_key.operator].append(pair)
    for operator in _from_the_sources(inputs):
        own = {key: owners[key] for key in groups[operator]}
        pulls = _pulls(inputs[operator], placed)
        found = _follow(own, pulls, pinned)
        if _local_bytes(found, pulls) > _local_bytes(own, pulls):
            placed.update(found)
    known = [pair for pairs in inputs.values() for pair in pairs]
    all_bytes = max(sum(one.size_bytes for one in reading.sent.values()), sum(pair.size_bytes for pair in known))
    won_bytes = local_bytes(placed, known) - local_bytes(owners, known)
    if won_bytes < LEAST_RATIO * all_bytes:
        return {}
    return {key: owner for key, owner in placed.items() if owner != owners[key]}


def local_bytes(owners: Mapping[GroupKey, str], pairs: Iterable[Traffic]) -> int:
    """Bytes of the pairs whose two key groups have one owner; all of them need one."""
    return sum(pair.size_bytes for pair in pairs if owners[pair.from_key] == owners[pair.to_key])


def _from_the_sources(inputs: Mapping[int, Iterable[Traffic]]) -> Iterator[int]:
    """Operators that receive, each after those that it receives from."""
    left = {operator: {pair.from_key.operator for pair in pairs} - {operator} for operator, pairs in inputs.items()}
    while left:
        # A query's plan has no circle; should one be told, its operator with the highest number begins.
        ready = [operator for operator, senders in left.items() if senders.isdisjoint(left)] or [max(left)]
        yield from sorted(ready)
        left = {operator: senders for operator, senders in left.items() if operator not in ready}


def _pulls(pairs: Iterable[Traffic], placed: Mapping[GroupKey, str]) -> Pulls:
    found: defaultdict[GroupKey, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for pair in pairs:
        found[pair.to_key][placed[pair.from_key]] += pair.size_bytes
    return found


def _local_bytes(own: Mapping[GroupKey, str], pulls: Pulls) -> int:
    return sum(pull.get(own[key], 0) for key, pull in pulls.items())


def _follow(own: Mapping[GroupKey, str], pulls: Pulls, pinned: Collection[GroupKey]) -> dict[GroupKey, str]:
    """One operator's groups anew, as many on each executor as before: the heaviest wish that there is room for first.

    Groups that no wish was met of stay where they can, and take what is left where others took their place.
    """
    placed = {key: own[key] for key in pinned if key in own}
    room = Counter(own.values()) - Counter(placed.values())
    for _, key, executor in sorted(_wishes(own, pulls), key=lambda wish: (-wish[0], wish[1], id_order(wish[2]))):
        if key not in placed and room[executor] > 0:
            placed[key] = executor
            room[executor] -= 1
    homeless = []
    for key, owner in own.items():
        if key not in placed and room[owner] > 0:
            placed[key] = owner
            room[owner] -= 1
        elif key not in placed:
            homeless.append(key)
    free = (executor for executor in sorted(room, key=id_order) for _ in range(room[executor]))
    return placed | dict(zip(homeless, free, strict=True))


def _wishes(own: Mapping[GroupKey, str], pulls: Pulls) -> Iterator[tuple[float, GroupKey, str]]:
    """Bytes that each executor with a part of a group's input offers it; its own offers a little more than it has."""
    for key, pull in pulls.items():
        home = own[key]
        yield pull.get(home, 0) + STAY_RATIO * sum(pull.values()), key, home
        yield from ((float(size), key, executor) for executor, size in pull.items() if executor != home)
