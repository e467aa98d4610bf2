"""The search for batches of a series that are short one by one: passes of annealing, each from the best so far."""

from __future__ import annotations

import functools
import math

from streamjob_planners import measures
from streamjob_planners.acceptance import CLEAR
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.kernel.swing import anneal_rows
from streamjob_planners.model import Effect, IntArray
from streamjob_planners.swings.rows import Batches, rows_of

PASS_STEPS = 4_000
"""Steps of a pass."""
CHUNK_STEPS = 500
"""Steps between two looks at the clock: a quarter of a millisecond on ten nodes."""
HEAT, SPREAD = 0.1, 1.0
"""First threshold of a pass, in parts of what an ordinary group brings to a node, and how its logarithm varies."""
AGAIN = 0.1
"""Part of the passes that begin at today's placement."""
LEAST_GAIN_S = 1e-9
"""What is no gain."""
PATIENCE = 60
"""Passes without a gain after which batches count as even."""


class Evening:
    """One search, from an engine whose cells are those of batches."""

    def __init__(self, engine: Engine, limits: Limits, batches: Batches, toll: float) -> None:
        """`toll`: seconds of a batch that one second of pause must gain."""
        self._engine, self._limits, self._batches, self._toll = engine, limits, batches, toll
        self._model, self._today = engine.problem.model, engine.problem.model.node_of

    def better(self, node_of: IntArray) -> IntArray:
        """`node_of`, or a placement whose batches take less, the price of its moves included."""
        best, reached, idle = node_of, self._cost(node_of), 0
        while idle < PATIENCE and not self._limits.over():
            found = self._pass(best)
            cost = self._cost(found)
            shorter = cost < reached - LEAST_GAIN_S and self._allowed(node_of, found)
            best, reached, idle = (found, cost, 0) if shorter else (best, reached, idle + 1)
        return best

    def _pass(self, best: IntArray) -> IntArray:
        """What a pass makes of the best, or of today's placement."""
        engine, rng = self._engine, self._engine.rng
        begin = self._today if rng.random() < AGAIN else best
        engine.load(begin)
        rows = rows_of(engine.fixed, self._batches.task_s, begin)
        heat = HEAT * engine.grain * math.exp(SPREAD * rng.standard_normal())
        for done in range(0, PASS_STEPS, CHUNK_STEPS):
            if self._limits.over():
                break
            until = done + int(min(CHUNK_STEPS, PASS_STEPS - done, max(self._limits.steps_left, 1)))
            anneal_rows(engine.fixed, engine.state, rows, (heat, self._toll), (done, until, PASS_STEPS))
            self._limits.steps_left -= until - done
        return engine.placement()

    def _cost(self, node_of: IntArray) -> float:
        """The mean batch of the series, with the price of the moves, seconds."""
        return self._batches.mean_s(node_of) + self._price_s(node_of)

    def _price_s(self, node_of: IntArray) -> float:
        """Seconds of a batch that the moves must gain; those to nodes that have nothing today need not."""
        fixed = self._engine.fixed
        cells = fixed.base[fixed.home] + node_of
        paid = (node_of != self._today) & ~fixed.vacant[cells]
        return self._toll * float(fixed.prices[paid, 0].sum())

    def _allowed(self, node_of: IntArray, found: IntArray) -> bool:
        """Whether no drain of `node_of` is undone, and batches get shorter by as much as their mean gets longer.

        Where the mean batch is not clearly shorter, the judge looks at its second measure, too.
        """
        marked = self._model.marked
        if bool((marked[found] & ~marked[node_of]).any()):
            return False
        before, was_s = self._before
        gained_s = was_s - self._rows_s(found)
        (before_s, uneven_s), (after_s, still_s) = before.seconds, measures.effect(self._model, found).seconds
        if after_s - before_s < -CLEAR * max(1.0, before_s):
            return True
        return max(after_s - before_s, still_s - uneven_s) <= gained_s

    @functools.cached_property
    def _before(self) -> tuple[Effect, float]:
        """What today's placement is worth, and what batches of the series take there."""
        return measures.effect(self._model, self._today), self._rows_s(self._today)

    def _rows_s(self, node_of: IntArray) -> float:
        """As the judge counts: work per slot, whatever the order of tasks."""
        return float(rows_of(self._engine.fixed, self._batches.task_s, node_of).tops.sum(axis=0).mean())
