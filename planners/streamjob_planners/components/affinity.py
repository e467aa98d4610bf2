"""Affinity groups for the balancer: partition i of every operator of a component moves as one (section 3.1).

The units are those that ALBIC's step 2 makes from collocated key groups: `units.contracted` turns a load model
into one of units, and any planner's answer for it is one for the key groups, so a load model needs nothing new.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from streamjob_planners.model import GroupId, IntArray


def affinity_units(group_ids: Sequence[GroupId], components: Iterable[Iterable[int]]) -> IntArray:
    """The unit of each key group, from 0 without gaps, (n_groups,); operators are the ids of the key groups.

    Operators of one component must have equally many partitions, since partition i of one holds the keys of partition
    i of the others; ValueError names a component of which that is not so, or an operator in two components. An operator
    in no component keeps every key group for itself.
    """
    component_of: dict[int, int] = {}
    for number, members in enumerate(components):
        for operator in members:
            if operator in component_of:
                raise ValueError(f"components: operator {operator} is in two of them")
            component_of[operator] = number
    _check_widths(group_ids, component_of)
    units: dict[tuple[bool, int, int], int] = {}
    unit_of = np.empty(len(group_ids), dtype=np.int64)
    for place, group in enumerate(group_ids):
        alone = group.operator not in component_of
        owner = group.operator if alone else component_of[group.operator]
        unit_of[place] = units.setdefault((alone, owner, group.partition), len(units))
    return unit_of


def gathered(unit_of: IntArray, node_of: IntArray) -> IntArray:
    """Owners with every unit on one node: where most of its key groups are, the lowest of equals, (n_groups,)."""
    home = np.empty(int(unit_of.max(initial=-1)) + 1, dtype=np.int64)
    for unit in range(home.size):
        home[unit] = np.argmax(np.bincount(node_of[unit_of == unit]))
    return np.asarray(home[unit_of])


def _check_widths(group_ids: Sequence[GroupId], component_of: dict[int, int]) -> None:
    widths: dict[int, int] = {}
    for group in group_ids:
        widths[group.operator] = widths.get(group.operator, 0) + 1
    of_component: dict[int, dict[int, int]] = {}
    for operator, width in widths.items():
        if operator in component_of:
            of_component.setdefault(component_of[operator], {})[operator] = width
    for found in of_component.values():
        if len(set(found.values())) > 1:
            said = ", ".join(f"operator {one} has {width}" for one, width in sorted(found.items()))
            raise ValueError(f"components: operators of one component need equally many partitions; {said}")
