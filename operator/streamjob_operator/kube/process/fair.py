"""Threads that namespaces share: one whose jobs all hang leaves the others room."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

T = TypeVar("T")


class FairThreads:
    """The `threads` of a pool; lives in one event loop. Of those who wait, the namespace that holds fewest is next.

    Where they are `shared`, a namespace takes a further one only while it holds fewer than are free: the first that
    hangs has half of them, the next one half of the rest, and the last one is for whoever has none (the dynamic
    threshold of Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998, for the buffers of a switch).
    """

    def __init__(self, pool: Executor, threads: int, *, shared: bool = True) -> None:
        self._pool = pool
        self._shared = shared
        self._free = threads
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def run(self, namespace: str, work: Callable[[], T]) -> T:
        """What `work` returns, in a thread, once it is this namespace's turn."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(namespace, deque()).append(turn)
        self._admit()
        await turn
        try:
            return await loop.run_in_executor(self._pool, work)
        finally:
            self._held[namespace] -= 1
            self._free += 1
            self._admit()

    def _admit(self) -> None:
        while (namespace := self._next()) is not None:
            waiting = self._waiting.pop(namespace)
            turn = waiting.popleft()
            if waiting:
                self._waiting[namespace] = waiting  # behind the others that hold as many
            if not turn.done():  # who waited may have been cancelled
                self._held[namespace] += 1
                self._free -= 1
                turn.set_result(None)

    def _next(self) -> str | None:
        may = [name for name in self._waiting if self._may(self._held[name])]
        return min(may, key=self._held.__getitem__, default=None)

    def _may(self, held: int) -> bool:
        return self._free > (held if self._shared else 0)
