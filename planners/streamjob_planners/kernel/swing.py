"""Annealing of the batches of a series: each row is a batch, and takes the slowest node of each level, level by level.

A step is judged by the batches that it changes: those in which a cell of it is, or becomes, the slowest of its level.
"""

from __future__ import annotations

from typing import NamedTuple

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.kernel.near import below
from streamjob_planners.kernel.proposals import any_group
from streamjob_planners.kernel.state import N_AWAY, Fixed, State, chance
from streamjob_planners.kernel.step import keep, possible, settle, take_back, try_piece, within_limits
from streamjob_planners.model import FloatArray

TRIED = 3
"""Nodes looked at for one that has room in a row."""


class Rows(NamedTuple):
    """Batches, and when their levels end: `tops` is always the largest of `ends` in its level and row.

    An end is work per slot, whatever the order of tasks.
    """

    task_s: FloatArray  # of each group in each row, (n_groups, n_rows)
    ends: FloatArray  # of each cell in each row, seconds, (n_cells, n_rows)
    tops: FloatArray  # (n_levels, n_rows)


@inlined
def top_of(fixed: Fixed, rows: Rows, base: int, row: int) -> int:
    """The slowest cell of the level that begins at `base`, in a row."""
    slowest = base
    for cell in range(base + 1, base + fixed.limits.shape[1]):
        if rows.ends[cell, row] > rows.ends[slowest, row]:
            slowest = cell
    return slowest


@inlined
def carry(fixed: Fixed, rows: Rows, group: int, ends: tuple[int, int]) -> float:
    """Take a group from cell ends[0] to cell ends[1]; by how much the mean of all rows gets longer, seconds."""
    source, target = ends
    base = fixed.base[target]
    level = base // fixed.limits.shape[1]
    longer = 0.0
    for row in range(rows.tops.shape[1]):
        was = rows.ends[source, row]
        rows.ends[source, row] = was - rows.task_s[group, row] / fixed.capacity[source]
        rows.ends[target, row] += rows.task_s[group, row] / fixed.capacity[target]
        top = rows.tops[level, row]
        new = max(top, rows.ends[target, row])
        if was >= top:
            new = rows.ends[top_of(fixed, rows, base, row), row]
        if new != top:
            longer += new - top
            rows.tops[level, row] = new
    return float(longer / rows.tops.shape[1])


@inlined
def attempt_row(fixed: Fixed, state: State, rows: Rows, pieces: int, knobs: tuple[float, float]) -> bool:
    """Make the step in `state.groups`, `state.targets` if it costs at most a threshold; says whether it was made.

    `knobs`: the threshold, seconds, and what a second of pause costs.
    """
    threshold, toll = knobs
    if not possible(fixed, state, pieces):
        return False
    pause_before, cost = state.paused[0], 0.0
    for piece in range(pieces):
        group, target = state.groups[piece], state.targets[piece]
        cost += carry(fixed, rows, group, (state.at[group], target))
        try_piece(fixed, state, piece, 0.0)
    cost += toll * (state.paused[0] - pause_before)
    if cost > threshold or not within_limits(fixed, state, pieces):
        for piece in range(pieces - 1, -1, -1):
            group, target = state.groups[piece], state.targets[piece]
            carry(fixed, rows, group, (target, state.at[group]))
            take_back(fixed, state, piece)
        return False
    settle(fixed, state, pieces, 0.0)
    for piece in range(pieces):
        keep(fixed, state, piece)
    return True


@inlined
def roomy(fixed: Fixed, state: State, rows: Rows, base: int, row: int) -> int:
    """The cell of a level that ends first in a row, of a few random receivers."""
    best = base + fixed.receivers[below(state, fixed.receivers.size)]
    for _ in range(TRIED - 1):
        cell = base + fixed.receivers[below(state, fixed.receivers.size)]
        if rows.ends[cell, row] < rows.ends[best, row]:
            best = cell
    return int(best)


@inlined
def homing(fixed: Fixed, state: State) -> int:
    """A random group that is not at home and may go there; -1 if none is met."""
    if state.counters[N_AWAY] == 0:
        return -1
    group = state.away[below(state, state.counters[N_AWAY])]
    return -1 if fixed.marked[fixed.home[group]] else int(group)


@inlined
def with_return(fixed: Fixed, state: State, kind: float) -> int:
    """The step so far, and a group that goes home, for which another of its home may go where it was."""
    group = homing(fixed, state)
    if group < 0:
        return 1
    home = fixed.home[group]
    if kind < 0.8:
        state.groups[1], state.targets[1] = group, home
        return 2
    other = any_group(state, home)
    state.targets[1] = state.at[group]
    state.groups[0], state.targets[0] = group, home
    if kind < 0.9 and other >= 0:
        state.groups[1] = other
        return 2
    return 1


@inlined
def propose_row(fixed: Fixed, state: State, rows: Rows) -> int:
    """Fill in a random step that relieves the slowest cell of a level in a row; its number of pieces, 0 for none."""
    row = below(state, rows.tops.shape[1])
    base = below(state, rows.tops.shape[0]) * fixed.limits.shape[1]
    source = top_of(fixed, rows, base, row)
    target, group, kind = roomy(fixed, state, rows, base, row), any_group(state, source), chance(state)
    if group < 0 or target == source:
        return 0
    state.groups[0], state.targets[0] = group, target
    if kind >= 0.65:
        return with_return(fixed, state, kind)
    back = any_group(state, target)
    if kind < 0.25 or back < 0:
        return 1
    state.groups[1], state.targets[1] = back, source
    return 2


@compiled
def anneal_rows(fixed: Fixed, state: State, rows: Rows, knobs: tuple[float, float], span: tuple[int, int, int]) -> None:
    """Make steps span[0] to span[1] of a pass of span[2]; `knobs`: first threshold, and what a second of pause costs.

    The threshold falls with the cube of what is left of the pass.
    """
    heat, toll = knobs
    for step in range(span[0], span[1]):
        pieces = propose_row(fixed, state, rows)
        if pieces > 0:
            left = 1.0 - step / span[2]
            attempt_row(fixed, state, rows, pieces, (heat * left * left * left, toll))
