"""The operator graph: keys, streams and what they carry (section 2.2), and what a component is (definition 1)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Mapping

Members = frozenset[int]
"""Operators of one component, as indices of the graph's `keys`."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Tuples (or bytes, one unit throughout) that the operator `source` sends to `target`: the paper's l_ij, >= 0."""

    source: int
    target: int
    load: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class OperatorGraph:
    """Operators and the streams between them; sources and sinks have no key and are left out.

    `keys` holds the attributes K_o that each operator may be partitioned by, at least one, (n_operators,). Raises
    ValueError with the field's name on an operator without a key, a stream to itself or to nowhere, or a negative load.
    """

    keys: tuple[frozenset[str], ...]
    streams: tuple[Stream, ...]

    def __post_init__(self) -> None:
        for operator, key in enumerate(self.keys):
            if not key:
                raise ValueError(f"keys: operator {operator} has none; at least one attribute is needed")
        for one in self.streams:
            if not (0 <= one.source < self.n_operators and 0 <= one.target < self.n_operators):
                raise ValueError(f"streams: {one.source} to {one.target} given, of {self.n_operators} operators")
            if one.source == one.target or not one.load >= 0.0:
                raise ValueError(
                    f"streams: {one.source} to {one.target} with {one.load}; two ends and 0 or more needed"
                )

    @property
    def n_operators(self) -> int:
        """Number of operators."""
        return len(self.keys)

    @functools.cached_property
    def total(self) -> float:
        """The paper's l: what all streams carry."""
        return sum(one.load for one in self.streams)

    @functools.cached_property
    def neighbours(self) -> tuple[Mapping[int, float], ...]:
        """Of each operator: every operator that it sends to or gets from, with what both ways carry together."""
        found: list[dict[int, float]] = [{} for _ in self.keys]
        for one in self.streams:
            for here, there in ((one.source, one.target), (one.target, one.source)):
                found[here][there] = found[here].get(there, 0.0) + one.load
        return tuple(found)

    @functools.cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Of each operator: those that it sends to, in the order of the streams."""
        found: list[dict[int, None]] = [{} for _ in self.keys]
        for one in self.streams:
            found[one.source][one.target] = None
        return tuple(tuple(row) for row in found)

    def key_of(self, members: Iterable[int]) -> frozenset[str]:
        """The attributes that all members share: what they can be partitioned by together; may be empty."""
        return frozenset.intersection(*(self.keys[one] for one in members))

    def between(self, operator: int, members: Collection[int]) -> float:
        """The paper's phi_C(o): what the operator exchanges with members of a component."""
        return sum(load for other, load in self.neighbours[operator].items() if other in members)

    def inside(self, members: Collection[int]) -> float:
        """The paper's phi_C: what stays within a component."""
        return sum(self.between(one, members) for one in members) / 2.0

    def is_component(self, members: Members) -> bool:
        """Definition 1: connected, and compatible (section 3.1)."""
        return bool(members) and bool(self.key_of(members)) and len(self.parts(members)) == 1

    def parts(self, members: Collection[int]) -> list[Members]:
        """Members in connected parts, by their lowest operator."""
        left, parts = set(members), []
        for start in sorted(members):
            if start in left:
                part = self._reached(start, left)
                left -= part
                parts.append(part)
        return parts

    def _reached(self, start: int, allowed: Collection[int]) -> Members:
        seen, todo = {start}, [start]
        while todo:
            fresh = [one for one in self.neighbours[todo.pop()] if one in allowed and one not in seen]
            seen.update(fresh)
            todo.extend(fresh)
        return frozenset(seen)
