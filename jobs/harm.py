"""Jobs that endure acts of harm, each at its time, and what came of it."""

from __future__ import annotations

import dataclasses
import pathlib
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from jobs.acts import STALLED, Act, Victim
from jobs.job import Job
from jobs.taken import newest

POLL_S = 0.05
INTO_S = 1.5
"""A batch that is to be hit has run for so long at most: as many take more, it is hit anywhere."""
LIMIT_S = 1_800.0
"""For one job, with every start of Spark that it needs, beside `limit_s` of its batches."""
BATCH_S = 10.0

Plan = Callable[[Job], Sequence[Act]]
"""What a job is to endure, in the order in which it is due."""


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


class Around(Protocol):
    """What is around drivers: what they talk to, and who may ask them for something."""

    def stall(self, victim: Victim, for_s: float) -> bool:
        """Stop its process for so long; False where it is stopped already."""
        ...

    def drain(self) -> bool:
        """Ask for an executor to be drained, unless it was asked for; whether one has gone since."""
        ...


class Watch(Protocol):
    """How far jobs are."""

    def commits(self, job: Job) -> int:
        """Batches that every query has committed."""
        ...

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
class World:
    """All that a job's harm has to do with; `chance` decides which executor it is and when in a batch."""

    driver: Driver
    around: Around
    watch: Watch
    chance: random.Random


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """An act, and when it was done: seconds since the job's first batch."""

    act: Act
    at_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Endured:
    """What was done to a job and what was not, in how much time; `failure` is a sentence where it has no outcome."""

    job: str
    done: tuple[Done, ...]
    undone: tuple[Act, ...]
    took_s: float
    failure: str | None = None


def endure(world: World, jobs: Sequence[Job], plan: Plan, limit_s: float = LIMIT_S) -> Iterator[Endured]:
    """Every job, one after another, each with all of its acts, unless it is done before they are."""
    world.driver.start(jobs)
    for place in range(len(jobs)):
        endured = _Ordeal(world, jobs[place:], plan(jobs[place])).endure(limit_s)
        yield endured
        if endured.failure is not None and jobs[place + 1 :]:
            world.driver.kill()
            world.driver.start(jobs[place + 1 :])


class _Ordeal:
    """The first of the jobs that are left."""

    def __init__(self, world: World, left: Sequence[Job], acts: Sequence[Act]) -> None:
        self._driver, self._around, self._watch, self._chance = world.driver, world.around, world.watch, world.chance
        self._job, self._left = left[0], left
        self._waiting, self._done = list(acts), list[Done]()
        self._aim = _Aim(world.watch, world.chance)
        self._first_s: float | None = None
        self._restarted = 0

    def endure(self, limit_s: float) -> Endured:
        began_s = self._watch.now_s()
        while True:
            ended = self._driver.ended()  # before its outcome is looked for, which it may leave and end
            took_s, failure = self._watch.now_s() - began_s, None
            done = self._watch.done(self._job)
            if not done:
                failure = _failure(ended, took_s, limit_s)
            if done or failure is not None:
                return Endured(
                    job=self._job.name,
                    done=tuple(self._done),
                    undone=tuple(self._waiting),
                    took_s=took_s,
                    failure=failure,
                )
            self._turn()
            self._watch.sleep(POLL_S)

    def _turn(self) -> None:
        """At most one act: the first that is due and can be done."""
        if self._first_s is None and self._watch.commits(self._job) < 1:
            return
        now_s = self._watch.now_s()
        self._first_s = now_s if self._first_s is None else self._first_s
        for act in self._waiting:
            if act.at_s <= now_s - self._first_s and self._do(act):
                self._waiting.remove(act)
                self._done.append(Done(act=act, at_s=self._watch.now_s() - self._first_s))
                return

    def _do(self, act: Act) -> bool:
        if act.victim in STALLED:
            return self._around.stall(act.victim, act.for_s)
        if act.victim is Victim.DRAINED:
            return self._around.drain()
        # A driver that has just been started is let come to a batch of its own.
        return self._aim.hits(self._job, max(act.after, self._restarted)) and self._kill(act.victim)

    def _kill(self, victim: Victim) -> bool:
        """Whether somebody was killed; a driver is started again at once."""
        if victim is Victim.EXECUTOR:
            return self._driver.kill_executor(self._chance)
        self._driver.kill()
        self._restarted = self._watch.commits(self._job) + 1
        self._driver.start(self._left)
        return True


def _failure(ended: str | None, took_s: float, limit_s: float) -> str | None:
    if ended is not None:
        return f"the driver has ended by itself, {ended}"
    return None if took_s < limit_s else f"not done within {limit_s:g} s"


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


def commits(checkpoints: Sequence[pathlib.Path]) -> int:
    """Batches that every query has committed."""
    return min(newest(one / "commits") for one in checkpoints) + 1


def in_batch(checkpoints: Sequence[pathlib.Path], after: int) -> bool:
    """Whether every query has committed `after` batches, and one of them has begun one that it has not committed."""
    begun = any(newest(one / "offsets") > newest(one / "commits") for one in checkpoints)
    return begun and commits(checkpoints) >= after


def limit_s(batches: int) -> float:
    """The most that a job may take."""
    return LIMIT_S + BATCH_S * batches
