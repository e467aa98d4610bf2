"""First plans of the search: levelled where the budget is loose, else two that cover and fit, each made better."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor

from streamjob_planners.covering import covered
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.model import IntArray
from streamjob_planners.side_by_side import Found, side_by_side
from streamjob_planners.tightening import tightened

COVER_SHARE = 0.5
"""Part of the time of a first plan for covering and fitting; closer and closer bands have the rest."""
PARTS = (1.0, 0.5)
"""Parts of the budget that first plans spend: with all of it large models are nearly done, with half of it closer bands
have something left to spend where a few heavy groups decide."""


def tight_plan(engine: Engine, limits: Limits, levelled: IntArray) -> IntArray:
    """The best of two first plans, made side by side, (n_groups,); `levelled` if neither is better."""
    aim = Distance(engine.problem)
    works = [functools.partial(_one, levelled, part) for part in PARTS]
    threads = ThreadPoolExecutor(max_workers=len(PARTS))
    found, _ = side_by_side(threads, engine, limits, (works[0], works[1]), lambda: None)
    threads.shutdown(wait=False)
    return min([*found, (aim.reached(levelled), levelled)], key=lambda one: one[0])[1]


def _one(levelled: IntArray, part: float, engine: Engine, limits: Limits) -> Found:
    aim, floor = Distance(engine.problem), engine.problem.params.tolerance
    first = covered(engine, limits.share(COVER_SHARE), levelled, floor, part)
    found = tightened(engine, limits, aim, first)
    return aim.reached(found), found
