"""Owners of key groups as short text, for messages and Kubernetes objects that must stay small."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from streamjob_agent.kinds import MOST_EXECUTORS, MOST_GROUPS, MOST_OPERATORS, TEXT, WireError, shown


def pack_owners(owners: Iterable[str | None]) -> str:
    """Owners of partitions 0.. as short text: equal neighbours are counted, ``-`` is None: ``0*3,2,-*2``.

    100,000 key groups over 1,000 executors stay under half a MiB in the worst case, below etcd's object limit.
    """
    runs = ((owner or "-", sum(1 for _ in run)) for owner, run in itertools.groupby(owners))
    return ",".join(owner if count == 1 else f"{owner}*{count}" for owner, count in runs)


def unpack_owners(text: str, most: int = MOST_GROUPS) -> tuple[str | None, ...]:
    """Inverse of :func:`pack_owners`; raises WireError on text that it could not have written, and beyond `most`."""
    if text.count(",") + bool(text) > most:  # each run is one at least
        raise _too_many(text)
    owners: list[str | None] = []
    known: dict[str, list[str | None]] = {}  # few runs are different ones
    for run in text.split(",") if text else ():
        if run not in known:
            known[run] = _run(run, most - len(owners))
        elif len(owners) + len(known[run]) > most:
            raise _too_many(run)
        owners += known[run]
    return tuple(owners)


def _run(run: str, most: int) -> list[str | None]:
    owner, _, count = run.partition("*")
    if not owner or len(owner) > TEXT.most or (count and not count.isdecimal()):
        raise WireError(f"owners: {run[:80]!r} is not an executor id, '-' or one of these with '*COUNT'")
    if len(count) > 7 or int(count or 1) > most:
        raise _too_many(run)
    return [None if owner == "-" else owner] * int(count or 1)


def _too_many(run: str) -> WireError:
    return WireError(f"owners: more than {MOST_GROUPS} key groups given at {run[:40]!r}")


def pack_map(owners: Mapping[int, tuple[str | None, ...]]) -> dict[str, str]:
    """Owners of each operator's partitions as short text, by the operator's number."""
    return {str(operator): pack_owners(row) for operator, row in owners.items()}


def unpack_map(packed: Mapping[str, str], left: int = MOST_GROUPS) -> dict[int, tuple[str | None, ...]]:
    """Inverse of :func:`pack_map`; raises WireError on text it could not have written, and beyond `left` groups or
    MOST_OPERATORS.
    """
    unpacked: dict[int, tuple[str | None, ...]] = {}
    for operator, row in packed.items():
        if not (operator.isdecimal() and len(operator) < 19 and isinstance(row, str)):
            raise WireError(f"owners: {operator[:80]!r}: {shown(row)} given, an operator's number and text are needed")
        if int(operator) >= MOST_OPERATORS:
            raise WireError(f"owners: operator {operator!r} given, {MOST_OPERATORS - 1} is the most")
        unpacked[int(operator)] = unpack_owners(row, left)
        left -= len(unpacked[int(operator)])
    return unpacked


def pack_places(places: Mapping[int, tuple[int | None, ...]]) -> dict[str, str]:
    """Places of coming executors, written as owners are: ``1*3,-*2,2``."""
    texts = {operator: (None if place is None else str(place) for place in row) for operator, row in places.items()}
    return {str(operator): pack_owners(row) for operator, row in texts.items()}


def unpack_places(packed: Mapping[str, str]) -> dict[int, tuple[int | None, ...]]:
    """Inverse of :func:`pack_places`; raises WireError on text it could not have written."""
    rows = unpack_map(packed)
    return {operator: tuple(map(_place, row)) for operator, row in rows.items()}


def _place(text: str | None) -> int | None:
    if text is None:
        return None
    place = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
    if not 1 <= place <= MOST_EXECUTORS:
        raise WireError(f"arrivals: {shown(text)} given, a place of 1 to {MOST_EXECUTORS} or '-' is needed")
    return place
