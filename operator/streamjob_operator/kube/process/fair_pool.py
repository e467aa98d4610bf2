"""Threads that many jobs' turns share: whom a person asked for comes first, and no namespace takes all of them."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

KEPT_FREE = 4
"""One place of so many is left to others by each namespace, where there are others."""


T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """An executor that runs at most `size` calls at a time."""

    executor: Executor
    size: int


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    namespace: str
    asked: Callable[[], bool]
    turn: asyncio.Future[None]


class FairPool:
    """Calls on threads that many share. Lives in one event loop.

    The next place is for the namespace that has fewest; of those for what a person `asked` for, which may be asked for
    while it waits; then for who has waited longest. So a full operator answers people at once, and one tenant's jobs
    whose Prometheus hangs hold up no other's. `shared` says whether there is more than one namespace.
    """

    def __init__(self, threads: Threads, shared: Callable[[], bool] = lambda: False) -> None:
        self._executor = threads.executor
        self._size = threads.size
        self._shared = shared
        self._running: Counter[str] = Counter()
        self._waiting: list[_Waiter] = []

    async def run(self, call: Callable[[], T], namespace: str, asked: Callable[[], bool] = lambda: False) -> T:
        """What `call` returns, once it had its place; raises what it raises."""
        waiter = _Waiter(namespace, asked, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        self._give()
        try:
            await waiter.turn
            return await asyncio.get_running_loop().run_in_executor(self._executor, call)
        finally:
            self._leave(waiter)

    def _leave(self, waiter: _Waiter) -> None:
        if waiter in self._waiting:  # it was given up before it had a place
            self._waiting.remove(waiter)
            return
        self._running[waiter.namespace] -= 1
        self._running += Counter()  # who has none is forgotten
        self._give()

    def _give(self) -> None:
        while self._running.total() < self._size:
            most = self._size - (self._size // KEPT_FREE if self._shared() else 0)
            able = [one for one in self._waiting if self._running[one.namespace] < most]
            if not able:
                return
            chosen = min(able, key=lambda one: (self._running[one.namespace], not one.asked()))
            self._waiting.remove(chosen)
            self._running[chosen.namespace] += 1
            if not chosen.turn.done():
                chosen.turn.set_result(None)
