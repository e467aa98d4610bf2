"""An ordered data-parallel region on paper: a splitter of one thread, workers, buffers, a merger that keeps the order.

Load balancing for ordered regions, sections 2 to 4 and 6. Flows, not tuples: while a worker's buffers are full, the
splitter sends at the pace of the worker that is slowest for its share, and is blocked on that one (the draft leader)
the rest of the time; of equally slow ones the leader stays the leader until another is clearly slower. Left open by the
paper and chosen here: a multiplication takes a nanosecond, the splitter sends 8 million tuples a second (at 1,000
multiplications more than 8 workers bring nothing, section 6.3), buffers are two of 64 KiB of tuples of 64 bytes, and
workers' speeds vary by 2 % from second to second.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from streamjob_planners.model import FloatArray

MULTIPLY_S = 1e-9
SPLITTER_RPS = 8e6
BUFFER_TUPLES = 2 * 65536 / 64
NOISE = 0.02
LEADS_BY = 0.05
"""A draft leader is replaced by one that is slower by this part."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Workers of a region.

    `multiplies`: cost of one tuple; `factor`: how many times as dear tuples are for each worker, (n,); `until_ratio`:
    part of all tuples after which the factors are gone, None for never; `speed`: of each worker's host, (n,).
    """

    multiplies: float
    factor: FloatArray
    until_ratio: float | None = None
    speed: FloatArray | None = None

    def rates(self, merged_ratio: float) -> FloatArray:
        """Tuples a second that each worker can process, (n,)."""
        gone = self.until_ratio is not None and merged_ratio >= self.until_ratio
        speed = np.ones(self.factor.size) if self.speed is None else self.speed
        return np.asarray(speed / (self.multiplies * MULTIPLY_S * (1.0 if gone else self.factor)))


class Region:
    """The state of a region; `second` lets one second pass."""

    def __init__(self, load: Load, total: float, rng: np.random.Generator) -> None:
        """`total`: tuples of the whole run."""
        self.load, self.total = load, total
        self.sent = 0.0
        self.merged = 0.0
        self._rng = rng
        self._queued = np.zeros(load.factor.size)
        self._leader = 0

    def second(self, share: FloatArray) -> tuple[FloatArray, float]:
        """Blocking rate of each connection, (n,), and tuples merged, under these shares of the tuples, (n,)."""
        noise = np.exp(self._rng.normal(0.0, NOISE, share.size))
        blocked, before, steps = np.zeros(share.size), self.merged, 10
        for _ in range(steps):
            rate = self.load.rates(self.merged / self.total) * noise
            blocked += self._step(share, rate, 1.0 / steps)
        return blocked, self.merged - before

    def _step(self, share: FloatArray, rate: FloatArray, step_s: float) -> FloatArray:
        """One step: the splitter sends as fast as the fullest buffer lets it."""
        used = share > 0
        room = BUFFER_TUPLES - self._queued
        pace = np.full(share.size, np.inf)
        pace[used] = (rate[used] * step_s + room[used]) / share[used]  # what may be sent until that buffer is full
        amount = min(SPLITTER_RPS * step_s, float(pace.min()))
        self._queued = np.maximum(self._queued + share * amount - rate * step_s, 0.0)
        self.sent += amount
        waiting = np.zeros(share.size)
        waiting[used] = self._queued[used] / share[used]
        self.merged = max(self.merged, self.sent - float(waiting.max()))
        blocked = np.zeros(share.size)
        idle_s = step_s - amount / SPLITTER_RPS
        if idle_s > 1e-12:
            blocked[self._lead(pace)] = idle_s
        return blocked

    def _lead(self, pace: FloatArray) -> int:
        """Who is blocked on: the slowest for its share, or the leader while it is nearly so."""
        slowest = int(pace.argmin())
        if pace[self._leader] > (1 + LEADS_BY) * pace[slowest]:
            self._leader = slowest
        return self._leader


Weights = Callable[[Region], FloatArray]
"""Shares of the tuples now, (n,), their sum is 1."""
