"""Drives the inner loops: passes of threshold annealing towards a goal, until a deadline or a number of steps."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from streamjob_planners.acceptance import empty_nodes
from streamjob_planners.drain import drain_weights
from streamjob_planners.kernel.anneal import anneal
from streamjob_planners.kernel.bundles import Table, new_table
from streamjob_planners.kernel.compiled import AVAILABLE
from streamjob_planners.kernel.fill import fill, new_state
from streamjob_planners.kernel.relay import Relay, new_relay
from streamjob_planners.kernel.state import N_AWAY, N_OFF, Fixed, set_bands, waiting_weight
from streamjob_planners.model import Clock, FloatArray, IntArray
from streamjob_planners.problem import Problem

CHUNK = 4096 if AVAILABLE else 128
"""Most steps between two looks at the clock: one or two milliseconds where a step is cheap."""
SORT_S_PER_GROUP = 1e-6
"""Seconds per key group that must be left for sorting to pay: it takes a fifth of them."""
LEAST_CHUNK = 64
LOOK_S = 1e-3
"""Time between two looks at the clock that dear steps, those of list schedules, are cut to."""
FIRST_STEP_S, LEAST_STEP_S = 3e-7 if AVAILABLE else 3e-5, 1e-9
"""Time of a step as long as none has been made, and the least that is taken for it."""
STEP_SMOOTHING = 0.1
"""Weight of the latest steps in the time that one is said to take."""
ANY_COST, ENDLESS = 1e300, 1 << 40
"""A threshold that everything stays below, in a pass that does not cool."""


Knobs = tuple[float, float, float, float, float, float]
"""Those of `anneal`."""


class Reserve:
    """Seconds before a deadline at which to stop: to finish what has been found, however busy the machine is.

    Where other work keeps the thread of a plan from its core, the time between two looks at the clock tells how long
    that takes. The same may happen once more after the last look, so that much is kept back too.
    """

    def __init__(self, finish_s: Callable[[], float] = lambda: 0.0, most_s: float = 0.0) -> None:
        """`finish_s`: time to finish, now; `most_s`: as much as is kept back for waiting."""
        self._finish_s = finish_s
        self._most_s = most_s
        self._waited_s = 0.0

    def note(self, between_s: float) -> None:
        """So much time lay between two looks at the clock."""
        self._waited_s = max(self._waited_s, min(between_s, self._most_s))

    def seconds(self) -> float:
        """What must be left now."""
        return self._finish_s() + self._waited_s

    def of_workers(self) -> Reserve:
        """That of threads which nobody waits for when they are late: they need not keep back what they have waited."""
        return Reserve(self._finish_s)


class Limits:
    """When to stop: a time on the clock, and a number of steps. Steps are counted across all phases."""

    def __init__(self, clock: Clock, deadline: float, max_steps: int | None, reserve: Reserve | None = None) -> None:
        """`reserve`: what must be left before the deadline; nothing by default."""
        self.clock = clock
        self.deadline = deadline
        self.steps_left = np.inf if max_steps is None else float(max_steps)
        self.reserve = reserve or Reserve()

    def left_s(self) -> float:
        """Seconds that may still be used, 0 or more."""
        return max(0.0, self.deadline - self.reserve.seconds() - self.clock())

    def share(self, part: float, left_s: float | None = None) -> Limits:
        """Limits that end after a part of what is left; the steps it takes are not taken from these.

        `left_s`: what the clock just said is left, where it is not to be looked at again.
        """
        steps = None if np.isinf(self.steps_left) else int(self.steps_left * part)
        unused_s = (1 - part) * (self.left_s() if left_s is None else left_s)
        return Limits(self.clock, self.deadline - unused_s, steps, self.reserve)

    @contextlib.contextmanager
    def lent(self, part: float, left_s: float | None = None) -> Iterator[Limits]:
        """A `share` for what is done inside, whose steps are taken from these too when it is left.

        What of the share was not used stays here. While it is lent, these know nothing of its steps.
        """
        share = self.share(part, left_s)
        before = share.steps_left
        try:
            yield share
        finally:
            if np.isfinite(before):
                self.steps_left -= before - share.steps_left

    def halves(self) -> tuple[Limits, Limits]:
        """Limits for two other threads that work side by side: all the time and half of the steps each."""
        more, reserve = np.ceil(self.steps_left / 2), self.reserve.of_workers()
        return (
            Limits(self.clock, self.deadline, None if np.isinf(more) else int(more), reserve),
            Limits(self.clock, self.deadline, None if np.isinf(more) else int(self.steps_left - more), reserve),
        )

    def over(self) -> bool:
        """Whether to stop now."""
        return self.steps_left <= 0 or self.left_s() <= 0.0


class Engine:
    """A placement under search. Not thread-safe; deterministic for a seed as long as only steps limit it."""

    def __init__(self, problem: Problem, seed: int, fixed: Fixed | None = None) -> None:
        """`seed`: 1 to 2**31 - 2; `fixed`: the problem as cells; with a cell per node by default."""
        self.rng = np.random.default_rng(seed)
        self.problem = problem
        given = fixed_of(problem) if fixed is None else fixed
        self.fixed = Fixed(**{name: _of_one_kind(one) for name, one in given._asdict().items()})
        self.state = new_state(self.fixed, self.fixed.home, seed)
        self._chunk = LEAST_CHUNK if bool((self.fixed.slots > 1).any()) else CHUNK
        self._levels = self.fixed.base.size > problem.model.n_nodes
        self._step_s = FIRST_STEP_S

    @functools.cached_property
    def grain(self) -> float:
        """What one key group brings to a cell on average."""
        load, capacity = self.fixed.load, self.fixed.capacity
        return float(load.mean() / capacity.mean()) if load.size else 0.0

    def sort_groups(self, limits: Limits) -> None:
        """Sort the groups of every cell by load, so that steps can search for one; left out where time is short."""
        fixed = self.fixed
        if limits.left_s() < SORT_S_PER_GROUP * fixed.load.size:
            return
        groups = np.flatnonzero(fixed.movable)
        groups = groups[np.argsort(fixed.load[groups])]
        cells = fixed.home[groups]
        fixed.own[:] = groups[np.argsort(cells.astype(np.min_scalar_type(fixed.base.size)), kind="stable")]
        fixed.own_load[:] = fixed.load[fixed.own]
        fixed.first[1:] = np.cumsum(np.bincount(cells, minlength=fixed.base.size))

    @functools.cached_property
    def workers(self) -> tuple[Worker, Worker]:
        """Two engines on the same problem, for other threads; the same ones every time.

        Each is made by the thread that asks for it first: filling the state of a million groups takes a tenth of a
        second, and where the first plan is good enough nobody asks.
        """
        first, second = self.rng.integers(1, 2**31 - 2, size=2).tolist()
        return Worker(self, first), Worker(self, second)

    def leave_workers(self) -> None:
        """Leave both to threads of which one still works with its own; the next ones are others."""
        del self.workers

    def straighten(self) -> None:
        """Squares within bands hurt no more, neither here nor in the other threads."""
        made = (worker.engine for worker in self.workers if worker.made)
        for engine in (self, *made):
            engine.state.bend[:] = 0.0

    def load(self, node_of: IntArray, most_crossed: IntArray | None = None) -> None:
        """Go on from this placement, (n_groups,).

        `most_crossed`: how many groups may leave and arrive at each node, (2, n_nodes); as many as want by default.
        """
        self.state.most_crossed[:] = node_of.size if most_crossed is None else most_crossed
        at = node_of + self.fixed.base[self.fixed.home] if self._levels else node_of
        if not np.array_equal(self.state.at, at):
            fill(self.fixed, self.state, _of_one_kind(at))

    def placement(self) -> IntArray:
        """The placement now, (n_groups,)."""
        return self.fixed.node[self.state.at] if self._levels else self.state.at.copy()

    def set_bands(self, low: FloatArray, high: FloatArray, middle: FloatArray | None = None) -> None:
        """Aim at loads between `low` and `high`, (n_cells,), filling up to `middle`: by default that of the band."""
        set_bands(self.fixed, self.state, (low, high, (low + high) / 2 if middle is None else middle))

    def moves(self) -> int:
        """Groups that are not at home."""
        return int(self.state.counters[N_AWAY])

    def waiting(self) -> float:
        """Drain weight on marked nodes."""
        return float(waiting_weight(self.state))

    def waiting_of(self, node_of: IntArray) -> float:
        """Drain weight on marked nodes under a placement."""
        return float(self.fixed.drag[self.problem.model.marked[node_of]].sum())

    def shake(self, steps: int) -> None:
        """Make a few random steps at any cost, within the budget."""
        anneal(self.fixed, self.state, (ANY_COST, 0.0, 0.0, 0.0, 0.0, np.inf), (0, steps, ENDLESS))

    def run(
        self,
        limits: Limits,
        length: int,
        threshold: float,
        *,
        drain: float,
        price: float,
        waiting: float = np.inf,
        toll: float = 0.0,
    ) -> bool:
        """One pass of at most `length` steps with a threshold falling to 0; whether its goal was met.

        The goal: all nodes within their bands, at most `waiting` drain weight on marked nodes.
        """
        done, knobs = 0, (threshold, 0.0, drain, price, toll, waiting)
        while done < length and not limits.over():
            done = self._chunk_of(limits, knobs, done, length)
            if self.state.counters[N_OFF] == 0 and self.waiting() <= waiting:
                return True
        return False

    @functools.cached_property
    def table(self) -> Table:
        """Room for exact exchanges."""
        return new_table(self.problem.parts())

    @functools.cached_property
    def relay(self) -> Relay:
        """Room for walks."""
        return new_relay()

    @functools.cached_property
    def mean_part(self) -> float:
        """Part of the budget that the move of a group takes on average."""
        return float(self.table.price.mean()) if self.table.price.size else 0.0

    def run_steep(self, limits: Limits, heat: float, least: float) -> None:
        """One pass to the end of its limits, to which squares of what cells are off their bands matter.

        The threshold falls from `heat` to `least` (both above 0), by the same ratio in equal parts of what it may take.
        It ends early once all cells are within their bands.
        """
        done, knobs = 0, (heat, least, 0.0, 0.0, 0.0, np.inf)
        self.state.steep[0] = True
        while self.state.counters[N_OFF] > 0 and (left := int(self.steps_in(limits, limits.left_s()))) > 0:
            done = self._chunk_of(limits, knobs, done, done + left)
        self.state.steep[0] = False

    def steps_in(self, limits: Limits, left_s: float) -> float:
        """Steps that limits allow with so much time left: their number, or what there is time for."""
        if left_s <= 0.0:
            return 0.0
        return limits.steps_left if np.isfinite(limits.steps_left) else left_s / self._step_s

    def _chunk_of(self, limits: Limits, knobs: Knobs, done: int, length: int) -> int:
        """The next steps of a pass of which so many are done; how many are done then."""
        until = done + int(min(self._chunk, length - done, max(limits.steps_left, 1)))
        began = limits.clock()
        made = int(anneal(self.fixed, self.state, knobs, (done, until, length)))
        took_s = limits.clock() - began
        self._note(limits, took_s)
        steps = max(made - done, 1)
        self._step_s += STEP_SMOOTHING * (max(took_s / steps, LEAST_STEP_S) - self._step_s)
        limits.steps_left -= steps
        return done + steps

    def _note(self, limits: Limits, took_s: float) -> None:
        """What a chunk took: the next one is to take neither much longer nor much shorter than LOOK_S."""
        limits.reserve.note(took_s)
        wanted = self._chunk // 2 if took_s > 2 * LOOK_S else 2 * self._chunk if took_s < LOOK_S / 2 else self._chunk
        self._chunk = min(CHUNK, max(LEAST_CHUNK, wanted))


class Worker:
    """An engine for another thread, on the problem of the one that has it, with chances of its own."""

    def __init__(self, of: Engine, seed: int) -> None:
        self._problem, self._fixed, self._seed = of.problem, of.fixed, seed

    @property
    def made(self) -> bool:
        """Whether anybody has asked for it."""
        return "engine" in self.__dict__

    @functools.cached_property
    def engine(self) -> Engine:
        """Made when it is asked for the first time, by whom asks."""
        return Engine(self._problem, self._seed, self._fixed)


def _of_one_kind(array: Any) -> Any:
    """What a plan or a view holds may be read-only, which to a compiled loop is another kind of array."""
    return np.require(array, requirements=("C", "W"))


def fixed_of(problem: Problem) -> Fixed:
    """The problem as arrays of the inner loops, a cell per node."""
    model = problem.model
    nodes = np.arange(model.n_nodes)
    return Fixed(
        load=np.array(model.load, dtype=np.float64),
        drag=drain_weights(problem),
        prices=np.ascontiguousarray(problem.prices, dtype=np.float64),
        allowances=problem.allowances,
        capacity=np.array(model.capacity, dtype=np.float64),
        marked=np.array(model.marked, dtype=np.bool_),
        vacant=empty_nodes(model),
        movable=np.array(problem.movable, dtype=np.bool_),
        uses=problem.uses,
        limits=problem.limits,
        home=np.array(model.node_of, dtype=np.int64),
        receivers=np.flatnonzero(problem.open_nodes).astype(np.int64),
        base=np.zeros_like(nodes),
        node=nodes,
        slots=np.ones_like(nodes),
        own=np.zeros(np.count_nonzero(problem.movable), dtype=np.int64),
        own_load=np.zeros(np.count_nonzero(problem.movable)),
        first=np.zeros(model.n_nodes + 1, dtype=np.int64),
    )
