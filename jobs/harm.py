"""Executors killed in mid-batch, and the driver after them: how often, when, and what came of the jobs it befell."""

from __future__ import annotations

import collections
import dataclasses
import enum
import pathlib
import random
from collections.abc import Iterator, Sequence
from typing import Protocol

from jobs.job import Job
from jobs.taken import newest

POLL_S = 0.05
INTO_S = 1.5
"""A batch that is to be hit has run for so long at most: as many take more, it is hit anywhere."""
LIMIT_S = 1_800.0
"""For one job, with every start of Spark that it needs."""


class Victim(enum.Enum):
    """What is killed: a process of an executor, or the driver with the JVM that it began."""

    EXECUTOR = "executor"
    DRIVER = "driver"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """How many executors of each job are killed, one after another, and whether its driver is killed after them."""

    executors: int = 0
    driver: bool = False

    def __post_init__(self) -> None:
        if self.executors < 0:
            raise ValueError(f"kill-executors: {self.executors} given; it is 0 or more.")

    def kills(self, batches: int) -> list[tuple[int, Victim]]:
        """Each with the batches that every query has committed before it; `batches` are those with input."""
        victims = [Victim.EXECUTOR] * self.executors + [Victim.DRIVER] * self.driver
        return [(max(1, at * batches // (len(victims) + 1)), one) for at, one in enumerate(victims, 1)]


class Driver(Protocol):
    """The process that runs jobs, and is killed."""

    def start(self, jobs: Sequence[Job]) -> None:
        """Begin with the first of the jobs, or go on with it from its checkpoint, then all others."""
        ...

    def ended(self) -> str | None:
        """How it ended by itself; None while it runs."""
        ...

    def kill_executor(self, chance: random.Random) -> bool:
        """Kill one by chance; False where none is there."""
        ...

    def kill(self) -> None:
        """Kill it; its executors are left to themselves."""
        ...


class Watch(Protocol):
    """How far jobs are."""

    def in_batch(self, job: Job, after: int) -> bool:
        """Whether it has committed that many batches and is in one."""
        ...

    def done(self, job: Job) -> bool:
        """Whether its outcome is there."""
        ...

    def now_s(self) -> float:
        """A clock that only goes forward."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait for so long."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Endured:
    """What was done to a job, in how much time; `failure` is a sentence where it has no outcome of its own."""

    job: str
    killed: collections.Counter[Victim]
    took_s: float
    failure: str | None = None


def endure(
    driver: Driver, jobs: Sequence[Job], kills: Sequence[tuple[int, Victim]], watch: Watch, chance: random.Random
) -> Iterator[Endured]:
    """Every job, one after another, each with all of the kills, unless it is done before they are."""
    driver.start(jobs)
    for place in range(len(jobs)):
        endured = _endure(driver, jobs[place:], kills, watch, chance)
        yield endured
        if endured.failure is not None and jobs[place + 1 :]:
            driver.kill()
            driver.start(jobs[place + 1 :])


def _endure(
    driver: Driver, left: Sequence[Job], kills: Sequence[tuple[int, Victim]], watch: Watch, chance: random.Random
) -> Endured:
    """The first of the jobs that are left."""
    job, began_s, waiting, killed = left[0], watch.now_s(), list(kills), collections.Counter[Victim]()
    aim = _Aim(watch, chance)
    while True:
        ended = driver.ended()  # before its outcome is looked for, which it may leave and end
        took_s, failure = watch.now_s() - began_s, None
        done = watch.done(job)
        if not done:
            failure = _failure(ended, took_s)
        if done or failure is not None:
            return Endured(job=job.name, killed=killed, took_s=took_s, failure=failure)
        if waiting and aim.hits(job, waiting[0][0]) and _kill(driver, waiting[0][1], left, chance):
            killed[waiting.pop(0)[1]] += 1
        watch.sleep(POLL_S)


def _failure(ended: str | None, took_s: float) -> str | None:
    if ended is not None:
        return f"the driver has ended by itself, {ended}"
    return None if took_s < LIMIT_S else f"not done within {LIMIT_S:g} s"


class _Aim:
    """When in a batch it is hit. Each that was over by then cuts the longest wait to a quarter: some take a moment."""

    def __init__(self, watch: Watch, chance: random.Random) -> None:
        self._watch, self._chance = watch, chance
        self._into_s = INTO_S

    def hits(self, job: Job, after: int) -> bool:
        """Whether a batch was met that is still on a moment later."""
        if not self._watch.in_batch(job, after):
            return False
        self._watch.sleep(self._chance.uniform(0.0, self._into_s))
        hit = self._watch.in_batch(job, after)
        if not hit:
            self._into_s /= 4
        return hit


def _kill(driver: Driver, victim: Victim, left: Sequence[Job], chance: random.Random) -> bool:
    """Whether somebody was killed; a driver is started again at once."""
    if victim is Victim.EXECUTOR:
        return driver.kill_executor(chance)
    driver.kill()
    driver.start(left)
    return True


def in_batch(checkpoints: Sequence[pathlib.Path], after: int) -> bool:
    """Whether every query has committed `after` batches, and one of them has begun one that it has not committed."""
    begun = [(newest(one / "offsets"), newest(one / "commits")) for one in checkpoints]
    return all(commit + 1 >= after for _, commit in begun) and any(offset > commit for offset, commit in begun)
