"""What an initial placer is told, and what it answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Key groups without a place, and nodes. A bad world raises ValueError with the field's name.

    Attributes:
        operator: operator of each key group, from 0, (n_groups,).
        capacity: weight of each node, > 0, (n_nodes,).
        coefficients: load of each group per unit of each source's rate, >= 0, (n_groups, n_sources); None if unknown.
        series: load of each group in each window, oldest first, >= 0, (n_windows, n_groups); None if unknown.
        sticky: groups with too much state to move later (section 8.3), (n_groups,); None for no such groups.
    """

    operator: IntArray
    capacity: FloatArray
    coefficients: FloatArray | None = None
    series: FloatArray | None = None
    sticky: BoolArray | None = None

    def __post_init__(self) -> None:
        if self.capacity.ndim != 1 or self.capacity.size == 0 or not bool((self.capacity > 0).all()):
            raise ValueError("capacity: one number above 0 for each node is needed, and at least one node")
        if self.n_groups and int(self.operator.min()) < 0:
            raise ValueError(f"operator: {int(self.operator.min())} given, 0 or more is needed")
        _check_loads("coefficients", self.coefficients, 0, self.n_groups)
        _check_loads("series", self.series, 1, self.n_groups)
        if self.sticky is not None and self.sticky.shape != (self.n_groups,):
            raise ValueError(f"sticky: shape {self.sticky.shape} given, ({self.n_groups},) is needed")

    @property
    def n_groups(self) -> int:
        """Number of key groups."""
        return self.operator.size

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.capacity.size


def _check_loads(name: str, table: FloatArray | None, axis: int, n_groups: int) -> None:
    if table is None:
        return
    if table.ndim != 2 or table.shape[axis] != n_groups:
        raise ValueError(f"{name}: shape {table.shape} given, two axes with {n_groups} key groups are needed")
    if not bool(np.isfinite(table).all() and (table >= 0).all()):
        raise ValueError(f"{name}: every value must be a finite number of 0 or more")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The node of each key group, (n_groups,), and sentences for a person."""

    node_of: IntArray
    notes: tuple[str, ...] = ()


Placer = Callable[[World], Placed]
"""Same world, same placement."""
