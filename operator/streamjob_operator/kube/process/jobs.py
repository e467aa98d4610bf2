"""All StreamJobs under care: one task each, that waits until its next turn is due or something wakes it.

Turns run in bounded pools of threads: those with a cycle, which may wait for a plan for a minute, in one of their own,
so that no look, restart of a driver or deletion waits for another job's plan. Where turns queue, what a person changed
comes first, and each namespace has its share (see FairPool). What goes wrong in one job's turn is
logged, told in its status, and tried again after a wait; no other job hears of it.

A StreamJob that is to go does not wait for its own cycle either, which may wait for a Prometheus that hangs: another
keeper ends the job as another operator would, and what the cycle still writes is refused as that operator's would be.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import logging
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from streamjob_operator.doubling import doubled_s
from streamjob_operator.kube.api.refusals import Conflict, Refused
from streamjob_operator.kube.job.rest import CYCLE_DUE, Due, Rest
from streamjob_operator.kube.process.fair_pool import FairPool, Key, Threads
from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.tally import one_less

LOG = logging.getLogger(__name__)
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
TELL_AFTER = 5
"""Failures in a row, half a minute, after which what should pass by itself is told, too: a webhook that always fails
looks like a server that is busy."""
TOGETHER_S = 0.2
"""Changes within this time are one."""


class Turning(Protocol):
    """What keeps one StreamJob."""

    def turn(self, *, cycle: bool) -> Rest:
        """See Rest; without `cycle` the turn stops short of one that is due."""

    def fail(self, sentence: str) -> None:
        """Tell that turns fail, and will go on to until somebody does something about it."""

    def close(self) -> None:
        """Nothing comes any more."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Turned:
    """How a turn went, or what it ran into."""

    rest: Rest = None
    failure: str | None = None
    passes: bool = False
    left: asyncio.Task[Rest] | None = None  # a cycle that is not waited for any more


class _Left(Exception):
    """The StreamJob is to go, and its cycle runs on."""

    def __init__(self, cycle: asyncio.Task[Rest]) -> None:
        super().__init__()
        self.cycle = cycle


class Jobs:
    """Lives in one event loop; `make(namespace, name)` gives the keeper of a StreamJob that is seen first.

    `first_wait_s` gives how long the first turn waits of a StreamJob that was there before.
    """

    def __init__(
        self,
        make: Callable[[str, str], Turning],
        looks: Threads,
        cycles: Threads,
        first_wait_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._make = make
        self._looks = FairPool(looks, self._shared)
        self._cycles = FairPool(cycles, self._shared)
        self._first_wait_s = first_wait_s
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._namespaces: Counter[str] = Counter()  # how many of the tasks are each's
        self._wakes: dict[Key, asyncio.Event] = {}
        self._unseen: set[Key] = set()
        self._going: dict[Key, asyncio.Event] = {}
        self._left: set[asyncio.Task[None]] = set()
        self._asked: dict[Key, object] = {}  # what a person changed since its last turn, and a token of that change
        self._stopping = False

    def __len__(self) -> int:
        """StreamJobs under care."""
        return len(self._tasks)

    def wake(
        self, namespace: str, name: str, *, listed: bool = False, asked: bool = False, going: bool | None = None
    ) -> None:
        """Something of this StreamJob changed, or it is new: its next turn comes at once.

        What was merely `listed` may wait for its first turn: at an operator's start that is everything. What a person
        `asked` for comes before all that only its own cluster changed. `going` says whether the StreamJob is to go,
        None that nothing is known of that.
        """
        key = (namespace, name)
        if self._stopping:
            return
        if asked and not listed:
            self._asked[key] = object()
            self._looks.hurry(key)
            self._cycles.hurry(key)
        if going is not None and key in self._going:
            (self._going[key].set if going else self._going[key].clear)()
        if key in self._tasks:
            if not (listed and key in self._unseen):
                self._wakes[key].set()
            return
        self._wakes[key], self._going[key] = asyncio.Event(), asyncio.Event()
        wait_s = self._first_wait_s() if listed else 0.0
        self._unseen.add(key)
        self._namespaces[namespace] += 1
        self._tasks[key] = asyncio.create_task(self._care(key, wait_s), name=f"job {namespace}/{name}")

    def asked(self, namespace: str, name: str) -> bool:
        """Whether a person has changed something, until a turn that began after it is over; from any thread."""
        return (namespace, name) in self._asked

    async def stop(self) -> None:
        """No more turns; those that run are waited for."""
        self._stopping = True
        for wake in self._wakes.values():
            wake.set()
        await asyncio.gather(*self._tasks.values())
        await asyncio.gather(*self._left)

    async def _care(self, key: Key, wait_s: float) -> None:
        keeper, wake, failures = self._make(*key), self._wakes[key], 0
        try:
            if wait_s > 0:
                await _sleep(wake, wait_s)
            self._unseen.discard(key)
            while not self._stopping:
                wake.clear()
                turned = await self._turn(key, keeper)
                if turned.left is not None:
                    self._leave(turned.left, keeper, key)
                    keeper = self._make(*key)
                    continue
                if turned.failure is None:
                    failures = 0
                    if turned.rest is None and not wake.is_set():
                        return
                    await _sleep(wake, 0.0 if turned.rest is None or isinstance(turned.rest, Due) else turned.rest)
                    continue
                failures += 1
                if not turned.passes or failures >= TELL_AFTER:
                    await self._tell(key, keeper, turned.failure)
                await _sleep(wake, doubled_s(FIRST_WAIT_S, failures - 1, LONGEST_WAIT_S))
        finally:
            del self._tasks[key], self._wakes[key], self._going[key]
            one_less(self._namespaces, key[0])
            self._asked.pop(key, None)
            await self._looks.run(keeper.close, key)

    def _shared(self) -> bool:
        return len(self._namespaces) > 1

    async def _turn(self, key: Key, keeper: Turning) -> _Turned:
        extra, asked = {"job": "/".join(key)}, self._asked.get(key)
        try:
            rest = await self._in(self._looks, key, functools.partial(keeper.turn, cycle=False))
            if rest is CYCLE_DUE:
                rest = await self._cycle(key, keeper)
            return _Turned(rest=rest)
        except _Left as left:
            return _Turned(left=left.cycle)
        except (Unavailable, Stale, Conflict) as error:  # it passes by itself
            LOG.warning("%s", error, extra=extra)
            return _Turned(failure=str(error), passes=True)
        except Refused as refusal:
            LOG.warning("%s", refusal, extra=extra)
            return _Turned(failure=str(refusal))
        except Exception as error:
            LOG.exception("A turn failed.", extra=extra)
            return _Turned(failure=f"{type(error).__name__}: {error}")
        finally:
            if self._asked.get(key) is asked:  # nobody has asked again meanwhile
                self._asked.pop(key, None)

    async def _cycle(self, key: Key, keeper: Turning) -> Rest:
        """A turn with a cycle; raises _Left once the StreamJob is to go before it has ended."""
        going = self._going[key]
        known = going.is_set()
        cycle = asyncio.create_task(self._in(self._cycles, key, functools.partial(keeper.turn, cycle=True)))
        waits = asyncio.create_task(asyncio.Event().wait() if known else going.wait())
        try:
            await asyncio.wait((cycle, waits), return_when=asyncio.FIRST_COMPLETED)
        finally:
            waits.cancel()
        if not cycle.done():
            raise _Left(cycle)
        return await cycle

    def _leave(self, cycle: asyncio.Task[Rest], keeper: Turning, key: Key) -> None:
        """Let a cycle end by itself, and its keeper go then."""

        async def ended() -> None:
            try:
                await cycle
            except Exception as error:  # noqa: BLE001 - whatever it is, its StreamJob is gone
                LOG.info("The cycle of a StreamJob that was deleted has ended: %s", error, extra={"job": "/".join(key)})
            await self._looks.run(keeper.close, key)

        task = asyncio.create_task(ended(), name=f"left {key[0]}/{key[1]}")
        self._left.add(task)
        task.add_done_callback(self._left.discard)

    async def _in(self, pool: FairPool, key: Key, turn: Callable[[], Rest]) -> Rest:
        return await pool.run(turn, key, asked=self.asked(*key))

    async def _tell(self, key: Key, keeper: Turning, sentence: str) -> None:
        try:
            await self._looks.run(functools.partial(keeper.fail, sentence), key)
        except Exception:  # whatever it is, the job's turns go on
            LOG.warning("The failure could not be told in the status.", exc_info=True, extra={"job": "/".join(key)})


async def _sleep(wake: asyncio.Event, seconds: float) -> None:
    """Until woken, or for so long."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(wake.wait(), seconds)
        await asyncio.sleep(TOGETHER_S)
