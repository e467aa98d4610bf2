"""Threads that many jobs' turns share: whom a person asked for comes first, and no namespace takes all of them."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from streamjob_operator.places import Places

T = TypeVar("T")
Key = tuple[str, str]
"""Namespace and name of a job."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """An executor that runs at most `size` calls at a time."""

    executor: Executor
    size: int


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    key: Key
    turn: asyncio.Future[None]


class _Line:
    """Who waits in one namespace: those that a person asked for, then the others, each as they came there."""

    def __init__(self) -> None:
        self.asked: OrderedDict[_Waiter, None] = OrderedDict()
        self._others: OrderedDict[_Waiter, None] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self.asked or self._others)

    def __contains__(self, waiter: _Waiter) -> bool:
        return waiter in self.asked or waiter in self._others

    def add(self, waiter: _Waiter, *, asked: bool) -> None:
        (self.asked if asked else self._others)[waiter] = None

    def hurry(self, waiter: _Waiter) -> None:
        if waiter in self._others:
            del self._others[waiter]
            self.asked[waiter] = None

    def first(self) -> _Waiter:
        return next(iter(self.asked or self._others))

    def remove(self, waiter: _Waiter) -> None:
        del (self.asked if waiter in self.asked else self._others)[waiter]


class FairPool:
    """Calls on threads that many share. Lives in one event loop.

    Who comes next is said by `Places`; of namespaces that have as few, one that a person waits in; in one namespace
    what a person asked for, which may be asked for while it waits (`hurry`), then who has waited longest. So a full
    operator answers people at once. A namespace that is alone leaves one place to whoever may come. To give a place
    takes as long as there are namespaces that wait, however many jobs wait in them.
    """

    def __init__(self, threads: Threads, shared: Callable[[], bool] = lambda: False) -> None:
        self._executor = threads.executor
        self._places = Places(threads.size)
        self._shared = shared
        self._lines: dict[str, _Line] = {}
        self._waiting: dict[Key, _Waiter] = {}  # of each job the newest: a cycle that was left may wait beside it

    async def run(self, call: Callable[[], T], key: Key, *, asked: bool = False) -> T:
        """What `call` returns, once it had its place; raises what it raises. A person may have `asked` for it."""
        waiter = _Waiter(key, asyncio.get_running_loop().create_future())
        self._lines.setdefault(key[0], _Line()).add(waiter, asked=asked)
        self._waiting[key] = waiter
        self._give()
        try:
            await waiter.turn
            return await asyncio.get_running_loop().run_in_executor(self._executor, call)
        finally:
            self._leave(waiter)

    def hurry(self, key: Key) -> None:
        """A person has asked for what this job waits for, if it waits."""
        waiter = self._waiting.get(key)
        if waiter is not None:
            self._lines[key[0]].hurry(waiter)

    def _leave(self, waiter: _Waiter) -> None:
        if waiter in self._lines.get(waiter.key[0], ()):  # it was given up before it had a place
            self._remove(waiter)
            return
        self._places.leave(waiter.key[0])
        self._give()

    def _give(self) -> None:
        shared, spare = self._shared(), min(1, self._places.size - 1)
        while self._places.free > 0:
            able = [one for one in self._lines if self._places.may(one, shared=shared, spare=spare)]
            if not able:
                return
            chosen = self._lines[min(able, key=self._order)].first()
            self._remove(chosen)
            self._places.take(chosen.key[0])
            if not chosen.turn.done():
                chosen.turn.set_result(None)

    def _remove(self, waiter: _Waiter) -> None:
        line = self._lines[waiter.key[0]]
        line.remove(waiter)
        if not line:
            del self._lines[waiter.key[0]]
        if self._waiting.get(waiter.key) is waiter:
            del self._waiting[waiter.key]

    def _order(self, namespace: str) -> tuple[int, bool, int]:
        return self._places.order(namespace, asked=bool(self._lines[namespace].asked))
