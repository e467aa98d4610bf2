"""Threads that many jobs' turns share: whom a person asked for comes first, and no namespace takes all of them."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

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
    while it waits; then for the namespace that has had none for longest, and in it for who has waited longest. So a
    full operator answers people at once.

    Where they are `shared` by several namespaces, one takes a further place only while it has fewer than are free: the
    first whose jobs all hang has half of them, the next one half of the rest, and the last one is for whoever has none
    (the dynamic threshold of Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998, for the buffers of a
    switch). One that is alone leaves one place to whoever may come.
    """

    def __init__(self, threads: Threads, shared: Callable[[], bool] = lambda: False) -> None:
        self._executor = threads.executor
        self._size = threads.size
        self._shared = shared
        self._running: Counter[str] = Counter()
        self._waiting: list[_Waiter] = []
        self._given = 0
        self._last: dict[str, int] = {}  # namespace -> how many places had been given when it got its newest

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
        shared, alone = self._shared(), min(1, self._size - 1)  # what is left free to others
        while (free := self._size - self._running.total()) > 0:
            able = [one for one in self._waiting if free > (self._running[one.namespace] if shared else alone)]
            if not able:
                return
            chosen = min(able, key=self._order)
            self._waiting.remove(chosen)
            self._running[chosen.namespace] += 1
            self._given += 1
            self._last[chosen.namespace] = self._given
            if not chosen.turn.done():
                chosen.turn.set_result(None)

    def _order(self, one: _Waiter) -> tuple[int, bool, int]:
        return self._running[one.namespace], not one.asked(), self._last.get(one.namespace, 0)
