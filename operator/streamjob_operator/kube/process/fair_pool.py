"""Threads that many jobs' turns share: whom a person asked for comes first, and no namespace takes all of them."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from streamjob_operator.places import Places

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

    Who comes next is said by `Places`; of namespaces that have as few, what a person `asked` for, which may be asked
    for while it waits; in one namespace who has waited longest. So a full operator answers people at once. A namespace
    that is alone leaves one place to whoever may come.
    """

    def __init__(self, threads: Threads, shared: Callable[[], bool] = lambda: False) -> None:
        self._executor = threads.executor
        self._places = Places(threads.size)
        self._shared = shared
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
        self._places.leave(waiter.namespace)
        self._give()

    def _give(self) -> None:
        shared, spare = self._shared(), min(1, self._places.size - 1)
        while self._places.free > 0:
            able = [one for one in self._waiting if self._places.may(one.namespace, shared=shared, spare=spare)]
            if not able:
                return
            chosen = min(able, key=self._order)
            self._waiting.remove(chosen)
            self._places.take(chosen.namespace)
            if not chosen.turn.done():
                chosen.turn.set_result(None)

    def _order(self, one: _Waiter) -> tuple[int, bool, int]:
        return self._places.has(one.namespace), not one.asked(), self._places.last(one.namespace)
