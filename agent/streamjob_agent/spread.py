"""Where key groups go when no plan says it: away from the dead, to whom has the least to do. Pure."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from streamjob_agent.wire import GroupKey


def id_order(executor_id: str) -> tuple[int, str]:
    """Sort key of Spark's executor ids, numbers as text: 2 comes before 10."""
    return (len(executor_id), executor_id)


def group_keys(operators: Mapping[int, int]) -> tuple[GroupKey, ...]:
    """Every key group of operators given with their numbers of partitions, in order."""
    return _group_keys(tuple(sorted(operators.items())))


@functools.lru_cache(maxsize=8)  # asked for in each whole look: to make 20,000 takes longer than the look
def _group_keys(operators: tuple[tuple[int, int], ...]) -> tuple[GroupKey, ...]:
    return tuple(
        GroupKey(operator=operator, partition=partition)
        for operator, partitions in operators
        for partition in range(partitions)
    )


def rescue(
    orphans: Iterable[GroupKey],
    owners: Mapping[GroupKey, str],
    executors: Sequence[str],
    busy_s: Mapping[GroupKey, float],
) -> dict[GroupKey, str]:
    """New owners for groups whose executor is gone: each goes to the least busy of `executors`, the heaviest first.

    `owners` are the groups that have a home. A group that was never measured weighs as much as the mean measured one.
    """
    orphans = sorted(orphans, key=lambda key: (-busy_s.get(key, 0.0), key))
    if not executors:
        return {}
    mean = sum(busy_s.values()) / len(busy_s) if any(busy_s.values()) else 1.0
    load = dict.fromkeys(executors, 0.0)
    count = Counter((owner, key.operator) for key, owner in owners.items())
    for key, owner in owners.items():
        if owner in load:
            load[owner] += busy_s.get(key, mean)
    given: dict[GroupKey, str] = {}
    for key in orphans:
        best = min(executors, key=lambda executor: (round(load[executor], 9), count[executor, key.operator]))
        given[key] = best
        load[best] += busy_s.get(key, mean)
        count[best, key.operator] += 1
    return given


def open_executors(live: Iterable[str], shut: Collection[str]) -> tuple[str, ...]:
    """Live executors that may receive key groups, in the order of their ids."""
    return tuple(sorted((executor for executor in live if executor not in shut), key=id_order))
