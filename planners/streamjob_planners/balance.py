"""Searching for the smallest distance, or the shortest batch: aim between the bound and the best so far, and again."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from streamjob_planners.board import Board
from streamjob_planners.crossings import Crossings
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Aim
from streamjob_planners.heavy_first import heavy_first
from streamjob_planners.long_passes import long_pass
from streamjob_planners.model import IntArray
from streamjob_planners.problem import Problem
from streamjob_planners.side_by_side import THREADS, Found, Work, side_by_side
from streamjob_planners.tightening import Tightens, tightened

Closing = Callable[[Engine, Limits, IntArray, Board | None], IntArray]
"""What makes a placement better by exchanges that are looked for and not drawn by chance; where both threads begin with
the same one, with a board for what either finds."""
Journeying = Callable[[Engine, Limits, float], IntArray | None]
"""A placement for a distance below one, made from a choice of counts; None where it finds none."""
Making = Callable[["Goal", "Schedule", Engine, Limits, "Now"], "Found"]
"""What a thread does between two meetings."""
NEXT_TO_NOTHING = 1e-12
"""Price of a move that is taken for none."""
HEAVY_AIM = 3.0
"""Power of a chance that says which part of the way from the floor a placement of heavy groups aims at: near it."""
SHORT_PER_NODE = 1_000
"""A long pass with fewer steps for each node is too short for most instances: it takes more of what is left then."""
MOST_SHARE = 0.6
"""The part of what is left that it then takes at most."""
FEWEST_SHARING = 100
"""Nodes from which on both threads go on from what either has found: with fewer a try is quick, and two ways lead
farther than one."""
LITTLE_STEPS = 10_000
"""Steps that are taken as a whole when no more are left."""
PLENTY = 20.0
"""Times what is worth having that may still be won for a search to have all of its patience."""
LITTLE_RATIO = 0.05
"""Part of what is worth having that is no gain of a meeting."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How passes follow one another; values found on the instances of section 5.1 (docs/decisions/0011-search.md).

    Many short passes beat few long ones: where the budget is tight, a pass ends on a plateau that a longer one does not
    leave either, and which plateau that is, is decided early.

    Attributes:
        steps: length of a pass.
        steps_per_move: its length per move of the budget, if that is more, up to `most_steps`.
        again: chance that a pass starts at today's placement, and not at the best so far.
        again_far: that chance while counts allow a much smaller distance than the best so far.
        counted: chance that such a pass is held to a choice of how many groups leave and arrive at each node
            (`crossings`), where counts decide.
        counted_heat: factor on the heat of such a pass: it cannot lose its way.
        aim: a target closes up to this part of the gap between floor and best, by chance.
        heat: the median first threshold of a pass, as a part of what one group brings to a node.
        spread: standard deviation of the logarithm of the heat.
        shake: chance that a pass from the best begins with up to `most_shaken` random steps at any cost: they lead to
            choices between which no sequence of cheap steps leads.
        drain: pain per drain weight on marked nodes, small: the distance comes first.
        price: pain per move: ties are not worth a move.
        close: percent points from the floor at which there is nothing left to win.
        alone: passes of a thread before it learns what the other one found: the faster one waits at each meeting.
        relays: chance that both threads make relays where these come first (`Goal.exact_soon`), unless counts allow
            a much smaller distance; others share the rest.
        relays_priced: that chance where groups differ in price, whatever counts allow: exact exchanges come first.
        relays_many: that chance where nodes are many and moves are few for each (`Goal.exact_mostly`); then neither
            heavy groups nor a long pass have their turn before.
        exact: chance that a pass is one of exact exchanges or relays; both threads begin with one. Not where relays are
            what is exact and counts allow a much smaller distance.
        exact_after: chance that such a pass begins with what an ordinary one made, and not with the best so far.
        journeys: chance that both threads choose counts of journeys first (`journeying`), where relays did not have
            theirs and there are two kinds of groups; one of both begins with that.
        heavy: chance that both threads place heavy groups first (`heavy_first`) instead of these; they begin with that.
        heavy_share: part of what is left that placing them takes at most.
        long: chance that both threads make one long pass (`long_passes`) instead of these; it comes next.
        long_tight: that chance where the budget affords less than one move a node: what counts allow decides there.
        long_share: part of what is left that it takes.
        long_again: chance that it starts at today's placement, and not at the best so far.
    """

    steps: int = 4_000
    steps_per_move: int = 200
    most_steps: int = 200_000
    again: float = 0.4
    again_far: float = 0.8
    counted: float = 0.95
    counted_heat: float = 4.0
    aim: float = 0.6
    heat: float = 0.12
    spread: float = 0.7
    shake: float = 0.8
    most_shaken: int = 6
    drain: float = 1e-3
    price: float = 1e-3
    close: float = 1e-4
    alone: int = 3
    relays: float = 0.4
    relays_priced: float = 0.3
    relays_many: float = 0.9
    exact: float = 0.1
    exact_after: float = 0.5
    journeys: float = 0.5
    heavy: float = 0.15
    heavy_share: float = 0.4
    long: float = 0.4
    long_tight: float = 0.1
    long_share: float = 0.3
    long_again: float = 0.6

    def pass_steps(self, problem: Problem) -> float:
        """Length of a pass."""
        return float(max(self.steps, min(self.most_steps, self._moves(problem) * self.steps_per_move)))

    def long_chance(self, problem: Problem) -> float:
        """Chance of a long pass at each meeting; with `long` they begin with one."""
        return self.long if self._moves(problem) >= problem.model.n_nodes else self.long_tight

    def _moves(self, problem: Problem) -> float:
        """How many moves the budget affords, of key groups of mean price."""
        movable = float(np.count_nonzero(problem.movable))
        prices = problem.movable.astype(np.float64) @ problem.prices / movable if movable else np.ones(3)
        affordable = float((problem.allowances / np.maximum(prices, NEXT_TO_NOTHING)).min())
        return min(affordable, movable)


def _never(_: IntArray) -> bool:
    return False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a descent wants: `aim` down to `floor`, with at most `waiting` drain weight left on marked nodes.

    `crossings`: draws of counts for passes that are held to some; prepared only where the load distance is the aim.
    `price` and `toll`: what a move and a second of its pause must gain; `heat`: the unit of thresholds, by default what
    a group brings to a cell. `whole`: passes run to their end, as no band tells that the aim has been reached; the
    descent ends after `patience` meetings in a row that gain next to nothing.
    `least`: what `aim` goes below nowhere, as far as is proven; `worth`: what of it is not worth having. The less than
    `PLENTY` times that may still be won, the fewer meetings without a gain end the descent. `good`: whether nothing
    that is worth having can be won from a placement; the descent ends there.
    `long`: the aim of long passes, `heavy`: that of placing heavy groups first, `exact`: exact exchanges (`closing`) or
    relays (`relaying`), where they are of use; `relays`: those that have meetings of their own, where exact exchanges
    are of use too; `exact_soon`: whether relays are what is exact, and come before heavy groups; `exact_mostly`:
    whether hardly anything else is of use. `journeys`: placements from a choice of counts, where these are of use;
    relays make more of them.
    """

    aim: Aim
    floor: float
    crossings: Crossings
    waiting: float = np.inf
    price: float = 0.0
    toll: float = 0.0
    heat: float | None = None
    whole: bool = False
    long: Tightens | None = None
    exact: Closing | None = None
    relays: Closing | None = None
    exact_soon: bool = False
    exact_mostly: bool = False
    journeys: Journeying | None = None
    heavy: Tightens | None = None
    patience: float = np.inf
    least: float = -np.inf
    worth: float = 0.0
    good: Callable[[IntArray], bool] = _never

    def patience_at(self, reached: float) -> float:
        """Meetings without a gain after which the descent ends there."""
        if self.worth <= 0.0:
            return self.patience
        return self.patience * float(np.clip((reached - self.least) / (PLENTY * self.worth), 0.0, 1.0))

    def counted(self, reached: float) -> bool:
        """Whether counts decide there: relays, which keep them, would only take the time of passes that are held to
        others."""
        return self.exact_soon and self.crossings.allow_less(reached)

    def little(self, schedule: Schedule) -> float:
        """What is no gain of a meeting."""
        return max(schedule.close, LITTLE_RATIO * self.worth)


class Now(NamedTuple):
    """What a pass begins with.

    Attributes:
        best: the best placement so far, (n_groups,).
        reached: its distance.
        steps: of a pass.
        board: for both threads of a meeting, where they begin with the same placement; None where nodes are few, and
            where steps are limited, so that a plan does not depend on which thread is faster.
    """

    best: IntArray
    reached: float
    steps: float
    board: Board | None = None


def descend(engine: Engine, limits: Limits, start: IntArray, goal: Goal, schedule: Schedule) -> IntArray:
    """From `start`, the placement with the smallest distance plus price of its moves that was found.

    Two threads make a few passes each, with chances of their own, and meet; the better result counts. This one only
    waits for them, until the deadline: one that is late, because it lost its core, is left to itself. It stops at its
    next look at the clock.
    """
    best = cheapest = start
    reached = goal.aim.reached(start)
    least = _total(engine.problem, goal, start)
    steps = schedule.pass_steps(engine.problem)
    threads, idle = ThreadPoolExecutor(max_workers=THREADS), 0
    chance = 0.0 if goal.long is None else schedule.long_chance(engine.problem)
    heavy = 0.0 if goal.heavy is None else schedule.heavy
    relays, kinds = _relays(goal, schedule), _first_kinds(goal, schedule, heavy, chance)
    journeys = 0.0 if goal.journeys is None else schedule.journeys
    beside: list[Making] = [_journey_pass] if journeys > 0.0 else []
    little = goal.little(schedule)
    shares = bool(np.isinf(limits.steps_left)) and engine.problem.model.n_nodes >= FEWEST_SHARING
    while idle < goal.patience_at(reached) and not (_done(limits, goal, schedule, reached) or goal.good(best)):
        counted = goal.counted(reached)
        passed_on = 0.0 if counted else relays
        made = kinds.pop(0) if kinds else _by_chance(engine.rng, passed_on, journeys, heavy, chance)
        if counted and made is _closing:
            made = _passes
        both = (beside.pop() if beside else made, made)
        board = Board(reached, best) if shares else None
        distance, found = _together(threads, engine, limits, both, goal, schedule, Now(best, reached, steps, board))
        idle = idle + 1 if distance > reached - little else 0
        if distance >= reached:
            continue
        reached, best = distance, found
        if _total(engine.problem, goal, best) < least:
            cheapest, least = best, _total(engine.problem, goal, best)
    threads.shutdown(wait=False)
    return cheapest


def _relays(goal: Goal, schedule: Schedule) -> float:
    """Chance that both threads make relays."""
    if goal.relays is None:
        return 0.0
    if not goal.exact_soon:
        return schedule.relays_priced
    return schedule.relays_many if goal.exact_mostly else schedule.relays


def _first_kinds(goal: Goal, schedule: Schedule, heavy: float, long: float) -> list[Making]:
    """What is made once before chance decides; `heavy` and `long` are the chances of these."""
    closing: list[Making] = [_closing] if goal.exact is not None and schedule.exact > 0.0 else []
    if goal.exact_mostly:
        return closing
    heavies: list[Making] = [_heavy_pass] if heavy > 0.0 else []
    longs: list[Making] = [_long_pass] if long >= schedule.long else []
    return [*closing, *heavies, *longs] if goal.exact_soon else [*heavies, *closing, *longs]


def _by_chance(rng: np.random.Generator, relays: float, journeys: float, heavy: float, long: float) -> Making:
    """What both threads make next, once all kinds were made; relays have their chance first, then journeys."""
    if relays > 0.0 and rng.random() < relays:
        return _relay_pass
    if journeys > 0.0 and rng.random() < journeys:
        return _journey_pass
    drawn = rng.random()
    return _long_pass if drawn < long else _heavy_pass if drawn < long + heavy else _passes


def _together(
    threads: ThreadPoolExecutor,
    engine: Engine,
    limits: Limits,
    both: tuple[Making, Making],
    goal: Goal,
    schedule: Schedule,
    now: Now,
) -> Found:
    """The better of what two threads find by their next meeting; meanwhile this one works out further counts."""

    def work(made: Making) -> Work:
        return lambda worker, part: made(goal, schedule, worker, part, now)

    further = functools.partial(goal.crossings.further, now.reached)
    found, more = side_by_side(threads, engine, limits, (work(both[0]), work(both[1])), further)
    if more is not None:
        goal.crossings.add(more)
    told = [] if now.board is None else [now.board.best()]
    return min([*found, *told], key=lambda one: one[0], default=(np.inf, now.best))


def _done(limits: Limits, goal: Goal, schedule: Schedule, reached: float) -> bool:
    return reached <= goal.floor + schedule.close or limits.over()


def _passes(goal: Goal, schedule: Schedule, engine: Engine, limits: Limits, now: Now) -> Found:
    """What a thread finds between two meetings, pass after pass from the best that it knows."""
    best, reached, steps, _ = now
    for _ in range(schedule.alone):
        if _done(limits, goal, schedule, reached):
            break
        exact = goal.exact is not None and not goal.counted(reached) and engine.rng.random() < schedule.exact
        now = Now(best, reached, steps)
        found = (
            _exact_pass(goal, schedule, engine, limits, now) if exact else _pass(engine, limits, goal, schedule, now)
        )
        if found[0] < reached:
            reached, best = found
    return reached, best


def _exact_pass(goal: Goal, schedule: Schedule, engine: Engine, limits: Limits, now: Now) -> Found:
    """What exact exchanges make of the best, or of what a pass makes of it."""
    if engine.rng.random() < schedule.exact_after:
        now = now._replace(best=_pass(engine, limits, goal, schedule, now)[1])
    return _closing(goal, schedule, engine, limits, now)


def _closing(goal: Goal, schedule: Schedule, engine: Engine, limits: Limits, now: Now) -> Found:
    """What exact exchanges make of the best."""
    found = now.best if goal.exact is None else goal.exact(engine, limits, now.best, now.board)
    return goal.aim.reached(found), found


def _relay_pass(goal: Goal, schedule: Schedule, engine: Engine, limits: Limits, now: Now) -> Found:
    """What relays make of the best."""
    found = now.best if goal.relays is None else goal.relays(engine, limits, now.best, now.board)
    return goal.aim.reached(found), found


def _journey_pass(goal: Goal, schedule: Schedule, engine: Engine, limits: Limits, now: Now) -> Found:
    """What a choice of counts leads to, and what relays make of it."""
    best, reached, steps, _ = now
    found = None if goal.journeys is None else goal.journeys(engine, limits, reached)
    return (reached, best) if found is None else _closing(goal, schedule, engine, limits, Now(found, reached, steps))


def _heavy_pass(goal: Goal, schedule: Schedule, engine: Engine, limits: Limits, now: Now) -> Found:
    """What comes of placing heavy groups first, and what closer bands and exact exchanges make of it."""
    best, reached, steps, _ = now
    if goal.heavy is None:
        return reached, best
    with limits.lent(schedule.heavy_share) as part:
        nearest = goal.floor + engine.rng.random() ** HEAVY_AIM * (reached - goal.floor)
        found = heavy_first(engine, part, (nearest, reached))
    if found is None:
        return reached, best
    found = tightened(engine, limits, goal.heavy, found)
    return _closing(goal, schedule, engine, limits, Now(found, reached, steps))


def _long_pass(goal: Goal, schedule: Schedule, engine: Engine, limits: Limits, now: Now) -> Found:
    """What one long pass finds, and what closer bands make of it."""
    best, reached, steps, _ = now
    left_s = limits.left_s()
    left = engine.steps_in(limits, left_s)
    if left < 1.0:
        return reached, best
    again = engine.rng.random() < schedule.long_again
    engine.load(engine.problem.model.node_of if again else best)
    goal.aim.set_bands(engine, reached - engine.rng.random() * (reached - goal.floor), best)
    share = _long_part(engine, left, schedule.long_share)
    with limits.lent(share, left_s) as part:
        found = long_pass(engine, part)
    if goal.long is not None and share < 1.0:
        found = tightened(engine, limits, goal.long, found)
        return _closing(goal, schedule, engine, limits, Now(found, reached, steps))
    return goal.aim.reached(found), found


def _long_part(engine: Engine, left: float, share: float) -> float:
    """The part of the steps left that a long pass takes: `share`, or a larger one where that would be too short."""
    if left <= LITTLE_STEPS:
        return 1.0
    return max(share, min(MOST_SHARE, SHORT_PER_NODE * engine.problem.model.n_nodes / left))


def _pass(engine: Engine, limits: Limits, goal: Goal, schedule: Schedule, now: Now) -> Found:
    """One pass: the distance and the placement that it ends with."""
    best, reached, steps, _ = now
    problem, rng = engine.problem, engine.rng
    chance = schedule.again_far if goal.crossings.allow_less(reached) else schedule.again
    again = goal.waiting == np.inf and rng.random() < chance
    target = reached - schedule.aim * rng.random() * (reached - goal.floor)
    most, hotter = None, 1.0
    if again and rng.random() < schedule.counted:
        drawn = goal.crossings.draw(goal.floor, reached, rng)
        if drawn is not None:
            (target, most), hotter = drawn, schedule.counted_heat
    engine.load(problem.model.node_of if again else best, most)
    goal.aim.set_bands(engine, target, best)
    if not again and rng.random() < schedule.shake:
        engine.shake(int(rng.integers(1, schedule.most_shaken + 1)))
    unit = engine.grain if goal.heat is None else goal.heat
    heat = hotter * schedule.heat * unit * math.exp(schedule.spread * rng.standard_normal())
    price, until = max(schedule.price, goal.price), -1.0 if goal.whole else goal.waiting
    engine.run(limits, int(steps), heat, drain=schedule.drain, price=price, waiting=until, toll=goal.toll)
    if engine.waiting() > goal.waiting:
        return np.inf, best
    found = engine.placement()
    return goal.aim.reached(found), found


def _total(problem: Problem, goal: Goal, node_of: IntArray) -> float:
    moves = int(np.count_nonzero(node_of != problem.model.node_of))
    return max(goal.aim.reached(node_of), goal.floor) + goal.price * moves
