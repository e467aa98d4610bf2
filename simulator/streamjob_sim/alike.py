"""Batches in a row that are alike: worked out once, so that a week of them takes no longer than its changes.

Batches of one length follow each other at the trigger as long as each takes what one interval brings, and ends within
it, on the same warm executors. What chance changes from batch to batch is left out by this.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from streamjob_planners.model import FloatArray
from streamjob_sim.shapes import arrived_at
from streamjob_sim.world import World

SAME = 1e-3
"""Part of a batch's rows by which another one may differ and be like it."""
MOST = 5
"""Batches in a row at most: with fewer rows in a series, a change of load would be seen later than it is."""


def batches(world: World, arrived: FloatArray, taken: float, length_s: float, now_s: float, until_s: float) -> int:
    """How many, from the one that begins now with `taken` rows and takes `length_s`; the last ends before `until_s`.

    `arrived`: rows that arrived until each whole second.
    """
    trigger_s = world.batch.trigger_s
    on_time = abs(now_s / trigger_s - round(now_s / trigger_s)) < 1e-6
    if not on_time or length_s > trigger_s or any(one.skew.shift_every_s is not None for one in world.operators):
        return 1
    end_s = min([until_s, *(at_s for at_s in _edges_s(world) if at_s > now_s)])
    most = min(MOST, math.floor((end_s - length_s - now_s) / trigger_s + 1e-9) + 1)
    if most <= 1:
        return 1
    starts_s = now_s + trigger_s * np.arange(-1.0, most)
    rows = np.diff(arrived_at(arrived, starts_s))
    other = np.flatnonzero(np.abs(rows - taken) > SAME * taken)
    return max(1, int(other[0]) if other.size else most)


def _edges_s(world: World) -> Iterator[float]:
    """When faults begin and end."""
    for fault in world.faults:
        yield fault.at_s
        yield fault.at_s + (fault.for_s or 0.0)
