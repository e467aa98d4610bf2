"""Where key groups shall be when a driver starts again: an initial placer's answer to what the newest batches held."""

from __future__ import annotations

import numpy as np

from streamjob_operator.spec import Balancing, InitialPlacement
from streamjob_operator.values import NextStart
from streamjob_planners.model import BoolArray, FloatArray, LoadModel
from streamjob_planners.placement import registry
from streamjob_planners.placement.world import World

PLACERS = {
    InitialPlacement.SPREAD: "spread",
    InitialPlacement.ROD: "rod",
    InitialPlacement.COR_GLOBAL: "cor-glb",
}
FEWEST_ROWS = 10
"""Rows of the load series below which correlations are chance."""
MOST_CELLS = {InitialPlacement.ROD: 1_000_000, InitialPlacement.COR_GLOBAL: 10_000}
"""Key groups times executors up to which these place: they must not hold up a cycle. At 80,000 ROD takes 0.06 s; at
32,000 COR-GLB takes 3.5 s."""


def next_start(balancing: Balancing, model: LoadModel, executors: int, allowed_s: float | None) -> NextStart | None:
    """As the job wishes, for so many equal executors, 1 or more; None where key groups shall be as the plan has them.

    `allowed_s` is what moves may add to one batch: CorGlobal places key groups first, by Rod, that are dearer to move.
    """
    wish = balancing.initial_placement
    if wish is InitialPlacement.AS_BEFORE or not model.n_groups:
        return None
    why = _unfit(wish, model, executors)
    placer = registry.get("spread" if why else PLACERS[wish])
    world = World(
        operator=np.array([one.operator for one in model.group_ids], dtype=np.int64),
        capacity=np.ones(executors),
        series=_series(model),
        sticky=_sticky(model, allowed_s),
    )
    told = f"A driver that starts again spreads key groups evenly: {why}." if why else _told(wish, model)
    return NextStart(place_of=placer(world).node_of, executors=executors, told=told)


def _unfit(wish: InitialPlacement, model: LoadModel, executors: int) -> str | None:
    """Why it is Spread in place of the wish."""
    if wish is InitialPlacement.SPREAD:
        return None
    if model.n_groups * executors > MOST_CELLS[wish]:
        return f"{wish.value} would take too long for {model.n_groups} key groups on {executors} executors"
    if not model.load.any():
        return f"{wish.value} needs loads, and none was measured"
    rows = 0 if model.load_series is None else len(model.load_series)
    if wish is InitialPlacement.COR_GLOBAL and rows < FEWEST_ROWS:
        return f"CorGlobal needs {FEWEST_ROWS} batches, and {rows} are known"
    return None


def _series(model: LoadModel) -> FloatArray:
    """Of each batch; the mean alone where nobody kept them."""
    series = model.load_series
    return model.load[None, :] if series is None or not series.any() else series


def _sticky(model: LoadModel, allowed_s: float | None) -> BoolArray | None:
    return None if allowed_s is None else np.asarray(model.migration_cost_s > allowed_s, dtype=np.bool_)


def _told(wish: InitialPlacement, model: LoadModel) -> str:
    if wish is InitialPlacement.SPREAD:
        return "A driver that starts again spreads key groups evenly."
    rows = 1 if model.load_series is None else len(model.load_series)
    return f"A driver that starts again places key groups by {wish.value}, from the last {rows} batches."
