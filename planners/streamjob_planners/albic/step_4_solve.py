"""Step 4 of ALBIC: solve with units whole, and with lighter units while the load distance is too large.

Algorithm 2, lines 38 to 43. At a largest unit of 0 points every key group is a unit of its own: the pure MILP.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from streamjob_planners.acceptance import planned_distance
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.model import IntArray, LoadModel


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Descent:
    """The best placement found, (n_groups,), its load distance, and the largest unit it was found with."""

    node_of: IntArray
    load_distance: float
    max_load: float


def unit_loads(settings: AlbicSettings) -> Iterator[float]:
    """maxPL, then lower by stepPL down to 0."""
    load = settings.max_partition_load
    while load > 0.0:
        yield load
        load -= settings.partition_step
    yield 0.0


def descend(
    model: LoadModel,
    loads: Iterator[float],
    solve: Callable[[float], IntArray],
    max_load_distance: float,
    expired: Callable[[], bool],
) -> Descent:
    """Calls `solve` with ever lighter units until its placement keeps the load distance; else the best one."""
    best: Descent | None = None
    for load in loads:
        node_of = solve(load)
        distance = planned_distance(model, node_of)
        if best is None or distance < best.load_distance:
            best = Descent(node_of=node_of, load_distance=distance, max_load=load)
        if distance <= max_load_distance or expired():
            break
    if best is None:
        return Descent(node_of=model.node_of, load_distance=planned_distance(model, model.node_of), max_load=0.0)
    return best
