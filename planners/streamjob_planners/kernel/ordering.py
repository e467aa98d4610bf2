"""Moves in the order in which they help most: a lazy heap over gains that only change at the two nodes of a move."""

from __future__ import annotations

from typing import NamedTuple

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.model import BoolArray, FloatArray, IntArray

DRAINS, RELIEVES, FILLS, SWAPS = 0, 1, 2, 3
"""Why a group moves: the first places in `columns.REASONS`."""


class Walk(NamedTuple):
    """Loads while moves are made one after the other; move m brings `load[m]` from `source[m]` to `target[m]`."""

    load: FloatArray
    source: IntArray
    target: IntArray
    capacity: FloatArray
    marked: BoolArray
    loads: FloatArray
    heap: IntArray  # moves that are left, the largest `gain` first
    gain: FloatArray
    order: IntArray  # the answer: moves in order
    reason: IntArray  # the answer: why, in the same order


@inlined
def discomfort(walk: Walk, node: int, change: float, mean: float) -> float:
    """Capacity-weighted squared distance from the mean, only above it on a marked node, to which its load is added."""
    load, capacity = walk.loads[node] + change, walk.capacity[node]
    off = load / capacity - mean
    if walk.marked[node]:
        return float(capacity * max(0.0, off) ** 2 + load)
    return float(capacity * off * off)


@inlined
def gain_of(walk: Walk, move: int, mean: float) -> float:
    """What a move helps now; its order of magnitude is load times percent points."""
    load, source, target = walk.load[move], walk.source[move], walk.target[move]
    before = discomfort(walk, source, 0.0, mean) + discomfort(walk, target, 0.0, mean)
    return before - discomfort(walk, source, -load, mean) - discomfort(walk, target, load, mean)


@inlined
def sooner(walk: Walk, one: int, other: int) -> bool:
    """Whether a move comes before another: more gain, or the same and the lower number."""
    if walk.gain[one] != walk.gain[other]:
        return bool(walk.gain[one] > walk.gain[other])
    return one < other


@inlined
def sink(walk: Walk, place: int, size: int) -> None:
    """Restore the heap below a place."""
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and sooner(walk, walk.heap[child + 1], walk.heap[child]):
            child += 1
        if not sooner(walk, walk.heap[child], walk.heap[place]):
            return
        walk.heap[child], walk.heap[place] = walk.heap[place], walk.heap[child]
        place = child


@inlined
def reason_of(walk: Walk, move: int, mean: float) -> int:
    """Why a move is made at this point of the walk."""
    source, target = walk.source[move], walk.target[move]
    if walk.marked[source]:
        return DRAINS
    if walk.loads[source] > mean * walk.capacity[source]:
        return RELIEVES
    return FILLS if walk.loads[target] < mean * walk.capacity[target] else SWAPS


@compiled
def put_in_order(walk: Walk, mean: float) -> None:
    """Fill `order` and `reason`; `loads` must be those before all moves."""
    size = walk.heap.size
    for move in range(size):
        walk.heap[move] = move
        walk.gain[move] = gain_of(walk, move, mean)
    for place in range(size // 2 - 1, -1, -1):
        sink(walk, place, size)
    done = 0
    while size > 0:
        move = walk.heap[0]
        gain = gain_of(walk, move, mean)
        if gain < walk.gain[move] - 1e-12:
            walk.gain[move] = gain
            sink(walk, 0, size)
            if walk.heap[0] != move:
                continue
        walk.order[done] = move
        walk.reason[done] = reason_of(walk, move, mean)
        walk.loads[walk.source[move]] -= walk.load[move]
        walk.loads[walk.target[move]] += walk.load[move]
        done += 1
        size -= 1
        walk.heap[0] = walk.heap[size]
        sink(walk, 0, size)
