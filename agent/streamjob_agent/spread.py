"""Where key groups go when no plan says it: evenly at first, together again later, away from the dead. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from streamjob_agent.wire import GroupKey


def id_order(executor_id: str) -> tuple[int, str]:
    """Sort key of Spark's executor ids, numbers as text: 2 comes before 10."""
    return (len(executor_id), executor_id)


def group_keys(operators: Mapping[int, int]) -> tuple[GroupKey, ...]:
    """Every key group of operators given with their numbers of partitions, in order."""
    return tuple(
        GroupKey(operator=operator, partition=partition)
        for operator in sorted(operators)
        for partition in range(operators[operator])
    )


def even(operators: Mapping[int, int], executors: Sequence[str]) -> dict[GroupKey, str]:
    """Round robin within each operator; each operator starts where the one before it stopped.

    Counts differ by at most one for each operator, and for their sum when all have equally many partitions.
    """
    if not executors:
        return {}
    return {
        key: executors[(key.operator * operators[key.operator] + key.partition) % len(executors)]
        for key in group_keys(operators)
    }


def reunite(old: Mapping[GroupKey, str], executors: Sequence[str]) -> dict[GroupKey, str]:
    """Owners under new executor ids: groups that lived together do so again, as far as the number of executors allows.

    Old executors map onto new ones by rank. Groups of old executors that have no counterpart go one by one to the
    executor with the fewest groups; a new executor without a counterpart takes groups from the fullest ones.
    """
    if not executors:
        return {}
    ranks = {executor: rank for rank, executor in enumerate(sorted(set(old.values()), key=id_order))}
    owners: dict[GroupKey, str] = {}
    counts = Counter(dict.fromkeys(executors, 0))
    surplus: list[GroupKey] = []
    for key in sorted(old):
        rank = ranks[old[key]]
        if rank < len(executors):
            owners[key] = executors[rank]
            counts[executors[rank]] += 1
        else:
            surplus.append(key)
    for key in surplus:
        owners[key] = _emptiest(executors, counts)
        counts[owners[key]] += 1
    _fill(owners, counts, executors[len(ranks) :])
    return owners


def _fill(owners: dict[GroupKey, str], counts: Counter[str], empty: Sequence[str]) -> None:
    """Give executors that have no groups their even share, from the fullest ones."""
    share = len(owners) // max(1, len(counts))
    for executor in empty:
        for _ in range(share):
            fullest = max(counts, key=lambda other: counts[other])
            key = max(group for group, owner in owners.items() if owner == fullest)
            owners[key] = executor
            counts[fullest] -= 1
            counts[executor] += 1


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


def _emptiest(executors: Sequence[str], counts: Mapping[str, int]) -> str:
    return min(executors, key=lambda executor: counts[executor])
