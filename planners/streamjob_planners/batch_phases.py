"""What the fast planner does for shorter batches, one after the other, within one deadline."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import balance, drain, measures
from streamjob_planners.batch.bound import search_bound
from streamjob_planners.batch.doubt import doubt
from streamjob_planners.batch.floor import floors_s
from streamjob_planners.batch.predict import rest_s
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.batch_drain import drained, forced
from streamjob_planners.batch_enough import Enough
from streamjob_planners.batch_goals import BatchTime, LevelSquares
from streamjob_planners.batch_levelling import levelled_batch
from streamjob_planners.batch_thin import send_unpaid_home
from streamjob_planners.crossings import Crossings
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.model import IntArray
from streamjob_planners.tightening import tightened

LEVEL_SHARE = 0.3
"""Part of the time for the first plan."""
TIGHTEN_SHARE = 0.5
"""Part of the time for the first passes, one after the other."""
TIME_SHARE = 0.8
"""Part of the time for the length of the batch; the rest is for draining, the second measure and taking back moves."""
SQUARES_SHARE = 0.9
"""Part of what is left for the second measure."""
SOONEST = 1e-9
"""Batches within which no move pays itself back; less is taken for it."""
PATIENCE = 100
"""Meetings without a gain after which a batch counts as short as it gets, with the price of its moves."""
LITTLE_PATIENCE = 8
"""Meetings without a gain after which the second measure counts as small as it gets."""
LEAST_GRAIN = 1e-3
"""Part of an ordinary group's seconds that is too little to be won."""


def in_seconds(schedule: balance.Schedule, grain: float) -> balance.Schedule:
    """The schedule for batches: `grain`, what one group brings to a cell in seconds, is the unit.

    Passes begin at the best, which is nearly good enough, and aim at less (docs/decisions/0011-search.md).
    """
    least = LEAST_GRAIN * grain
    return dataclasses.replace(
        schedule, steps_per_move=10, again=0.1, again_far=0.1, aim=0.3, price=least, close=least, drain=LEAST_GRAIN
    )


class BatchPhases:
    """The phases of one solve. `bound_s` and `notes` are there once it is done; `toll` is what a second of pause must
    gain, seconds of a batch."""

    def __init__(self, engine: Engine, limits: Limits, schedule: balance.Schedule, shape: BatchShape) -> None:
        problem = engine.problem
        self._engine, self._problem, self._limits = engine, problem, limits
        self._floors = floors_s(problem, shape)
        toll = 1.0 / max(problem.params.payback_batches, SOONEST)
        self._time = BatchTime(problem, engine.fixed, self._floors, toll)
        self.toll = toll
        self._schedule = in_seconds(schedule, engine.grain)
        self.bound_s = search_bound(problem, shape, self._floors)
        self._enough = Enough(problem, shape, self._time, self._floors, self.bound_s - rest_s(shape))
        self.notes: tuple[str, ...] = ()

    def solve(self) -> IntArray:
        """The placement of the plan: short, drained, even, without what does not pay, never worse than today's."""
        today = self._problem.model.node_of
        to_drain = drain.waiting(self._problem, today).size > 0
        node_of = self._shorten(self._first())
        node_of = send_unpaid_home(self._engine, node_of, self.toll)
        if self._time.reached(node_of) > self._time.reached(today):
            node_of = today
        if to_drain and not self._limits.over():
            node_of = drained(self._engine, self._limits.share(0.5), self._time, self._schedule, node_of)
            node_of = self._with_progress(node_of)
        if not self._limits.over():
            node_of = self._even_out(node_of)
        node_of = send_unpaid_home(self._engine, node_of, self.toll)
        if self._limits.over():
            self.notes = ("The deadline came before the search was done.",)
        return self._with_progress(self._not_worse(node_of))

    def enough(self, node_of: IntArray) -> bool:
        """Whether nothing that is worth having can be won beyond a placement, and no node waits for its first key
        groups."""
        return self._enough.nothing_left(node_of)

    def _first(self) -> IntArray:
        """Today's placement where that is good enough; else levelled in pairs, then tightened."""
        enough = self._enough.as_it_is()
        share = self._limits.share(LEVEL_SHARE)
        first = self._problem.model.node_of if enough else levelled_batch(self._engine, share, self._time, self._floors)
        self._engine.sort_groups(self._limits)
        part = self._limits.share(TIGHTEN_SHARE)
        return first if enough else tightened(self._engine, part, self._time, first, self.toll)

    def _shorten(self, start: IntArray, waiting: float = np.inf) -> IntArray:
        """The shortest batch from there; no more than `waiting` comes to be on marked nodes."""
        goal = balance.Goal(
            aim=self._time,
            waiting=waiting,
            floor=float(self._floors.sum()),
            toll=self.toll,
            patience=PATIENCE,
            least=self._enough.least_s,
            worth=self._enough.worth_s,
            good=self._enough.good,
            crossings=Crossings(self._problem),
        )
        return self._descend(start, goal, TIME_SHARE)

    def _even_out(self, start: IntArray) -> IntArray:
        """Moves that shorten no batch yet, but leave the nodes more alike: the next plan can go on from there."""
        self._engine.load(start)
        aim = LevelSquares(self._problem, self._time, self._engine.fixed, start)
        least, worth = self._enough.evenness(aim, start)
        goal = balance.Goal(
            aim=aim,
            floor=0.0,
            least=least,
            worth=worth,
            good=lambda node_of: aim.reached(node_of) - least <= worth,
            toll=self.toll,
            heat=aim.heat,
            whole=True,
            patience=LITTLE_PATIENCE,
            waiting=self._engine.waiting() + 1e-9,
            crossings=Crossings(self._problem),
        )
        found = self._descend(start, goal, SQUARES_SHARE)
        self._engine.straighten()
        return found

    def _descend(self, start: IntArray, goal: balance.Goal, share: float) -> IntArray:
        with self._limits.lent(share) as part:
            return balance.descend(self._engine, part, start, goal, self._schedule)

    def _with_progress(self, node_of: IntArray) -> IntArray:
        """`node_of`, or one that drains at least one group at any price, where it neither drains nor does something
        more urgent and one can be placed: a drain that never ends costs an executor."""
        problem = self._problem
        waits = drain.waiting(problem, problem.model.node_of).size > 0
        if not waits or measures.drains(problem.model, node_of) or self._relieves(node_of):
            return node_of
        found = drain.one_drained(problem, node_of, lambda start: forced(self._engine, start))
        if self._limits.over() or not measures.drains(problem.model, found):
            return found
        return self._shorten(found, self._engine.waiting_of(found) + 1e-9)

    def _relieves(self, node_of: IntArray) -> bool:
        """Whether batches get shorter by more than can wait, and than noise may make of it."""
        model = self._problem.model
        before_s, after_s = (measures.effect(model, one).expected_s for one in (model.node_of, node_of))
        if before_s is None or after_s is None or model.batch is None:
            return False
        gain_s = before_s - after_s
        return gain_s > drain.RELIEF_RATIO * before_s and gain_s > doubt(model.batch, node_of).most_s

    def _not_worse(self, node_of: IntArray) -> IntArray:
        """`node_of`, or today's placement if it neither drains nor pays back what it costs."""
        model = self._problem.model
        if measures.drains(model, node_of):
            return node_of
        before, after = (measures.effect(model, one) for one in (model.node_of, node_of))
        if before.batch_s is None or after.batch_s is None or before.level_rms_s is None or after.level_rms_s is None:
            return model.node_of
        sooner, evener = before.batch_s - after.batch_s, before.level_rms_s - after.level_rms_s
        price = self._time.price_s(node_of)
        worse = sooner < -1e-9 * before.batch_s or (abs(sooner) <= 1e-9 * before.batch_s and evener < 0.0)
        return model.node_of if worse or max(sooner, sooner + evener) < price - 1e-9 else node_of
