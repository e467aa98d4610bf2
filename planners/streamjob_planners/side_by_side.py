"""Two threads that search at the same time, each with an engine of its own, and meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np

from streamjob_planners.engine import Engine, Limits, Worker
from streamjob_planners.model import IntArray

Found = tuple[float, IntArray]
"""What a thread ends with: the distance, and the placement."""
Work = Callable[[Engine, Limits], Found]
THREADS = 2
"""Threads that work at the same time."""
LATE_S = 1.5e-3
"""How long threads may take to see that time is over: as long as what they do between two looks at the clock."""
T = TypeVar("T")


def side_by_side(
    threads: ThreadPoolExecutor, engine: Engine, limits: Limits, works: tuple[Work, Work], meanwhile: Callable[[], T]
) -> tuple[list[Found], T]:
    """What two workers find until they are done, or time is over; and what this thread does meanwhile.

    One that is late, because it lost its core, is left to itself: it stops at its next look at the clock.
    """
    parts = limits.halves()
    workers = zip(works, engine.workers, parts, strict=True)
    running = [threads.submit(_run, work, worker, part) for work, worker, part in workers]
    done = meanwhile()
    found = _in_time(running, limits)
    if len(found) < len(running):
        engine.leave_workers()
    if not np.isinf(limits.steps_left):
        limits.steps_left = sum(part.steps_left for part in parts)
    return found, done


def _run(work: Work, worker: Worker, part: Limits) -> Found:
    """On the thread that works: the first time, its engine is made there too."""
    return work(worker.engine, part)


def _in_time(running: Sequence[Future[Found]], limits: Limits) -> list[Found]:
    """What threads found by the time that is over, in their order; without those that are late."""
    while True:
        done, late = wait(running, timeout=limits.left_s() + LATE_S)
        if not late or limits.left_s() <= 0.0:
            return [one.result() for one in running if one in done]
