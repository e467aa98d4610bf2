"""All StreamJobs under care: one task each, that waits until its next turn is due or something wakes it.

Turns run in a bounded pool of threads. What goes wrong in one job's turn is logged, told in its status, and tried again
after a wait; no other job hears of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Protocol

from streamjob_operator.kube.refusals import Conflict, Refused
from streamjob_operator.ports import Stale, Unavailable

LOG = logging.getLogger(__name__)
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
TELL_AFTER = 5
"""Failures in a row, half a minute, after which what should pass by itself is told, too: a webhook that always fails
looks like a server that is busy."""
TOGETHER_S = 0.2
"""Changes within this time are one."""
Key = tuple[str, str]


class Turning(Protocol):
    """What keeps one StreamJob."""

    def turn(self) -> float | None:
        """Seconds until the next turn, None when the StreamJob is gone."""

    def fail(self, sentence: str) -> None:
        """Tell that turns fail, and will go on to until somebody does something about it."""

    def close(self) -> None:
        """Nothing comes any more."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Turned:
    """How a turn went: seconds until the next one, None when the StreamJob is gone; or what it ran into."""

    rest_s: float | None = None
    failure: str | None = None
    passes: bool = False


class Jobs:
    """Lives in one event loop; `make(namespace, name)` gives the keeper of a StreamJob that is seen first."""

    def __init__(self, make: Callable[[str, str], Turning], pool: Executor) -> None:
        self._make = make
        self._pool = pool
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._wakes: dict[Key, asyncio.Event] = {}
        self._stopping = False

    def __len__(self) -> int:
        """StreamJobs under care."""
        return len(self._tasks)

    def wake(self, namespace: str, name: str) -> None:
        """Something of this StreamJob changed, or it is new: its next turn comes at once."""
        key = (namespace, name)
        if self._stopping:
            return
        if key in self._tasks:
            self._wakes[key].set()
            return
        self._wakes[key] = asyncio.Event()
        self._tasks[key] = asyncio.create_task(self._care(key), name=f"job {namespace}/{name}")

    async def stop(self) -> None:
        """No more turns; those that run are waited for."""
        self._stopping = True
        for wake in self._wakes.values():
            wake.set()
        await asyncio.gather(*self._tasks.values())

    async def _care(self, key: Key) -> None:
        keeper, wake, failures = self._make(*key), self._wakes[key], 0
        try:
            while not self._stopping:
                wake.clear()
                turned = await self._turn(key, keeper)
                if turned.failure is None:
                    failures = 0
                    if turned.rest_s is None and not wake.is_set():
                        return
                    await _sleep(wake, turned.rest_s or 0.0)
                    continue
                failures += 1
                if not turned.passes or failures >= TELL_AFTER:
                    await self._tell(key, keeper, turned.failure)
                await _sleep(wake, _wait_s(failures))
        finally:
            del self._tasks[key], self._wakes[key]
            await asyncio.get_running_loop().run_in_executor(self._pool, keeper.close)

    async def _turn(self, key: Key, keeper: Turning) -> _Turned:
        extra = {"job": "/".join(key)}
        try:
            return _Turned(rest_s=await asyncio.get_running_loop().run_in_executor(self._pool, keeper.turn))
        except (Unavailable, Stale, Conflict) as error:  # it passes by itself
            LOG.warning("%s", error, extra=extra)
            return _Turned(failure=str(error), passes=True)
        except Refused as refusal:
            LOG.warning("%s", refusal, extra=extra)
            return _Turned(failure=str(refusal))
        except Exception as error:
            LOG.exception("A turn failed.", extra=extra)
            return _Turned(failure=f"{type(error).__name__}: {error}")

    async def _tell(self, key: Key, keeper: Turning, sentence: str) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._pool, keeper.fail, sentence)
        except Exception:  # whatever it is, the job's turns go on
            LOG.warning("The failure could not be told in the status.", exc_info=True, extra={"job": "/".join(key)})


def _wait_s(failures: int) -> float:
    """Doubles with each failure in a row."""
    return min(FIRST_WAIT_S * 2.0 ** (failures - 1), LONGEST_WAIT_S)


async def _sleep(wake: asyncio.Event, seconds: float) -> None:
    """Until woken, or for so long."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(wake.wait(), seconds)
        await asyncio.sleep(TOGETHER_S)
