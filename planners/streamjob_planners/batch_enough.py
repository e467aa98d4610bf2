"""When a batch is short enough: no more can be won than is worth having, as far as is proven.

Whoever asks for a plan may say what part of a batch is not worth planning for (`PlanParams.least_gain_ratio`): for less
no gate would move a key group. A search ends where neither a batch that is shorter by so much can be had, nor
one whose moves are cheaper by so much.
"""

from __future__ import annotations

from streamjob_planners.acceptance import empty_nodes
from streamjob_planners.batch.predict import ends
from streamjob_planners.batch.priced import least_together, prices_of
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.batch_goals import BatchTime, LevelSquares
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem


class Enough:
    """For one search. `least_s`: what levels and the price of moves take together at least; `worth_s`: seconds of a
    batch that are not worth having, 0 where everything is."""

    def __init__(
        self, problem: Problem, shape: BatchShape, time: BatchTime, floors: FloatArray, bound_s: float
    ) -> None:
        """`floors`: seconds below which no level comes, (n_levels,); `bound_s`: below which their sum does not."""
        self._problem, self._shape, self._time, self._bound_s = problem, shape, time, bound_s
        self._ratio = problem.params.least_gain_ratio
        self._vacant = bool(empty_nodes(problem.model).any())
        self.worth_s = self._ratio * ends(shape, problem.model.node_of).batch_s
        self.least_s = bound_s
        if self.worth_s > 0.0 and not self._vacant:
            self.least_s = max(bound_s, least_together(problem, shape, floors, time.toll))

    def good(self, node_of: IntArray) -> bool:
        """Whether a batch at `node_of`, (n_groups,), is short enough."""
        if self.worth_s <= 0.0:
            return False
        longer_s = float(self._time.levels_s(node_of).sum()) - self._bound_s
        return max(longer_s, self._time.reached(node_of) - self.least_s) <= self.worth_s

    def nothing_left(self, node_of: IntArray) -> bool:
        """Whether that batch is, and no node waits for its first key groups."""
        return not self._vacant and self.good(node_of)

    def as_it_is(self) -> bool:
        """Whether today's batch is."""
        return self.nothing_left(self._problem.model.node_of)

    def evenness(self, aim: LevelSquares, node_of: IntArray) -> tuple[float, float]:
        """Of the second measure at `node_of`: what it does not go below, price of the moves included, and what of it is
        not worth having."""
        if self._ratio <= 0.0:
            return 0.0, 0.0
        levels_s = self._time.levels_s(node_of)
        price_s = 0.0 if self._vacant else prices_of(self._problem, self._shape, levels_s, self._time.toll)
        return aim.least_s + price_s, self._ratio * aim.least_s
