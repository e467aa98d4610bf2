"""Whose call comes next on threads that many share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from streamjob_operator.kube.process.fair_pool import FairPool, Threads


class Calls:
    """Calls that note their names in the order in which they came, and last until they are let go."""

    def __init__(self, size: int, *, shared: bool = False) -> None:
        self.executor = ThreadPoolExecutor(size)
        self.pool = FairPool(Threads(executor=self.executor, size=size), lambda: shared)
        self.came: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._over: dict[str, threading.Event] = {}

    async def ask(self, name: str, asked: Callable[[], bool] = lambda: False) -> None:
        """One more; what stands before the dash is its namespace."""
        over = self._over[name] = threading.Event()

        def call() -> None:
            self.came.append(name)
            over.wait(30.0)

        self.tasks.append(asyncio.create_task(self.pool.run(call, name.split("-", maxsplit=1)[0], asked)))
        await asyncio.sleep(0.02)

    async def end(self, name: str) -> None:
        self._over[name].set()
        await asyncio.sleep(0.02)

    async def end_all(self) -> None:
        while not all(task.done() for task in self.tasks):
            for over in self._over.values():
                over.set()
            await asyncio.sleep(0.01)
        self.executor.shutdown()


def test_of_one_namespace_who_has_waited_longest_comes_next() -> None:
    async def act() -> None:
        calls = Calls(1)
        for name in ("a-1", "a-2", "a-3"):
            await calls.ask(name)
        await calls.end_all()
        assert calls.came == ["a-1", "a-2", "a-3"]

    asyncio.run(asyncio.wait_for(act(), 20.0))


def test_what_is_asked_for_comes_first_also_when_it_is_asked_for_later() -> None:
    async def act() -> None:
        calls, asked = Calls(1), set[str]()
        for name in ("a-1", "a-2", "a-3", "a-4"):
            await calls.ask(name, lambda name=name: name in asked)  # type: ignore[misc]
        asked.add("a-4")
        await calls.end_all()
        assert calls.came == ["a-1", "a-4", "a-2", "a-3"]

    asyncio.run(asyncio.wait_for(act(), 20.0))


def test_the_namespace_with_fewest_running_comes_first_whatever_others_ask_for() -> None:
    async def act() -> None:
        calls = Calls(2)
        for name in ("a-1", "a-2"):
            await calls.ask(name)
        await calls.ask("a-3", lambda: True)
        await calls.ask("b-1")
        await calls.end("a-1")
        assert calls.came == ["a-1", "a-2", "b-1"]
        await calls.end_all()
        assert calls.came == ["a-1", "a-2", "b-1", "a-3"]

    asyncio.run(asyncio.wait_for(act(), 20.0))


@pytest.mark.parametrize(("shared", "taken"), [(True, 3), (False, 4)])
def test_one_namespace_leaves_a_place_to_others_where_there_are_some(shared: bool, taken: int) -> None:
    async def act() -> None:
        calls = Calls(4, shared=shared)
        for at in range(6):
            await calls.ask(f"hangs-{at}")
        assert len(calls.came) == taken
        await calls.ask("b-1")
        assert calls.came[3] == ("b-1" if shared else "hangs-3")
        await calls.end_all()
        assert len(calls.came) == 7

    asyncio.run(asyncio.wait_for(act(), 20.0))


def test_who_gives_up_waiting_takes_no_place_and_a_failure_gives_its_place_back() -> None:
    async def act() -> None:
        calls = Calls(1)
        await calls.ask("a-1")
        await calls.ask("a-2")
        calls.tasks[1].cancel()
        await calls.end("a-1")
        with pytest.raises(ZeroDivisionError):
            await calls.pool.run(lambda: 1 // 0, "a")
        assert await calls.pool.run(lambda: 7, "b") == 7
        assert calls.came == ["a-1"]
        calls.executor.shutdown()

    asyncio.run(asyncio.wait_for(act(), 20.0))
