"""A first plan where the budget is tight: cover what nodes have too much, fit it in where there is room."""

from __future__ import annotations

import functools
import math

import numpy as np

from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.kernel.cover import Cover, choose, give_out
from streamjob_planners.model import FloatArray, IntArray

CLOSEST = 1e-4
"""Part of today's distance that is the narrowest band tried."""
FINE = 1.1
"""Ratio of two bands between which no further one is tried."""
NARROWING_SHARE = 0.5
"""Part of the time for finding the narrowest band for which the budget suffices."""
LEAST_LOAD = 1e-12
"""Percent points that a group is taken to bring at least."""
LEAST_PRICE = 1e-12
"""Part of the budget that a group takes at least."""


class Prices:
    """Of each group a part of the budget, above 0, (n_groups,), and which ones cost least for their load."""

    def __init__(self, engine: Engine, price: FloatArray) -> None:
        self.price, self._load = price, engine.problem.model.load

    @functools.cached_property
    def cheapest(self) -> IntArray:
        """All groups, the least price for a load first; worked out where somebody asks, and once for all bands."""
        return np.argsort(self.price / np.maximum(self._load, LEAST_LOAD))


def covered(engine: Engine, limits: Limits, best: IntArray, part: float, noise: float) -> IntArray:
    """The placement that was found so, (n_groups,); `best` if it is not better.

    `part`: of the budget that may be spent; `noise`: standard deviation of the logarithm by which prices are changed at
    random, so that another choice comes out.
    """
    problem, aim, reached = engine.problem, Distance(engine.problem), Distance(engine.problem).reached(best)
    price, today = np.maximum(problem.parts(), LEAST_PRICE) / part, aim.reached(problem.model.node_of)
    if noise > 0.0:
        price *= np.exp(noise * engine.rng.standard_normal(price.size))
    prices = Prices(engine, price)
    engine.load(problem.model.node_of)
    target = _narrowest(
        engine, limits.share(NARROWING_SHARE), prices, (max(problem.params.tolerance, CLOSEST * today), today)
    )
    if limits.over() or reached <= target:
        return best
    engine.load(problem.model.node_of)
    engine.set_bands(*aim.bands(target))
    given_out(engine, prices)
    found = engine.placement()
    return found if aim.reached(found) < reached else best


def given_out(engine: Engine, prices: Prices) -> None:
    """From what the engine holds, cover what nodes have above its bands and fit it in, where the budget suffices."""
    cover = _cover(engine, prices)
    give_out(engine.fixed, engine.state, cover, choose(engine.fixed, engine.state, cover))


def _narrowest(engine: Engine, limits: Limits, prices: Prices, between: tuple[float, float]) -> float:
    """The smallest distance for which the budget suffices, by bisection."""
    aim, (narrow, wide) = Distance(engine.problem), between
    while wide > FINE * narrow and not limits.over():
        target = math.sqrt(narrow * wide)
        engine.set_bands(*aim.bands(target))
        enough = choose(engine.fixed, engine.state, _cover(engine, prices)) >= 0
        narrow, wide = (narrow, target) if enough else (target, wide)
    return wide


def _cover(engine: Engine, prices: Prices) -> Cover:
    model, state = engine.problem.model, engine.state
    lacking = float(np.maximum(state.low - state.loads, 0.0).sum())
    more = lacking > float(np.maximum(state.loads - state.high, 0.0).sum())
    return Cover(
        price=prices.price,
        lacking=np.full(1, lacking),
        cheapest=prices.cheapest if more else np.zeros(0, dtype=np.int64),
        widest=(state.high - state.loads)[engine.fixed.receivers].max(keepdims=True, initial=0.0),
        chosen=np.zeros(model.n_groups, dtype=np.int64),
        leaves=np.zeros(model.n_groups, dtype=np.bool_),
        sums=np.zeros(2),
        left=np.zeros(state.loads.size),
        heap=engine.fixed.receivers.copy(),
    )
