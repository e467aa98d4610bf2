"""Whose call comes next on threads that many share."""

from __future__ import annotations

import asyncio
import functools
import sys
import threading
import types
from collections.abc import Callable, Coroutine
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

    async def ask(self, *names: str, asked: bool = False) -> None:
        """More of them; what stands before the dash is the namespace."""
        for name in names:
            self._over[name] = threading.Event()
            call, key = functools.partial(self._call, name), (name.split("-")[0], name)
            self.tasks.append(asyncio.create_task(self.pool.run(call, key, asked=asked)))
            await asyncio.sleep(0)  # it waits, or has a place

    def _call(self, name: str) -> None:
        self.came.append(name)
        self._over[name].wait(30.0)

    async def until(self, count: int) -> list[str]:
        """As many have come, and no more a little later."""
        while len(self.came) < count:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        return self.came

    def end(self, name: str) -> None:
        self._over[name].set()

    async def end_all(self) -> list[str]:
        """Let go of all; in which order they came."""
        for over in self._over.values():
            over.set()
        await asyncio.gather(*self.tasks)
        self.executor.shutdown()
        return self.came


def run(act: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(asyncio.wait_for(act(), 60.0))


def test_of_one_namespace_who_has_waited_longest_comes_next() -> None:
    async def act() -> None:
        calls = Calls(1)
        await calls.ask("a-1", "a-2", "a-3")
        assert await calls.end_all() == ["a-1", "a-2", "a-3"]

    run(act)


def test_what_is_asked_for_comes_first_also_when_it_is_asked_for_later() -> None:
    async def act() -> None:
        calls = Calls(1)
        await calls.ask("a-1", "a-2", "a-3", "a-4")
        calls.pool.hurry(("a", "a-4"))
        calls.pool.hurry(("b", "nobody"))
        assert await calls.end_all() == ["a-1", "a-4", "a-2", "a-3"]

    run(act)


def test_the_namespace_with_fewest_running_comes_first_whatever_others_ask_for() -> None:
    async def act() -> None:
        calls = Calls(3)
        await calls.ask("a-1", "a-2")
        await calls.ask("a-3", asked=True)
        await calls.ask("a-4", "b-1")
        assert sorted(await calls.until(2)) == ["a-1", "a-2"]
        calls.end("a-1")
        assert (await calls.until(3))[2] == "b-1"
        calls.end("a-2")
        assert (await calls.until(4))[3] == "a-3"
        await calls.end_all()

    run(act)


@pytest.mark.parametrize(
    ("size", "namespaces", "held"),
    [(1, 1, [1]), (2, 1, [1]), (3, 1, [2]), (16, 1, [8]), (16, 2, [4, 8]), (16, 9, [1, 1, 2, 4, 8])],
    ids=str,
)
def test_what_namespaces_hold_whose_calls_all_hang(size: int, namespaces: int, held: list[int]) -> None:
    async def act() -> None:
        calls = Calls(size, shared=True)
        await calls.ask(*(f"{namespace}-{at}" for namespace in range(namespaces) for at in range(20)))
        taken = [name.split("-")[0] for name in await calls.until(sum(held))]
        assert sorted(taken.count(one) for one in set(taken)) == held
        assert len(await calls.end_all()) == 20 * namespaces

    run(act)


@pytest.mark.parametrize(("size", "held"), [(1, 1), (2, 1), (4, 3)])
def test_one_namespace_alone_leaves_one_place_to_whoever_comes(size: int, held: int) -> None:
    async def act() -> None:
        calls = Calls(size)
        await calls.ask(*(f"a-{at}" for at in range(6)))
        assert len(await calls.until(held)) == held
        await calls.end_all()

    run(act)


def test_namespaces_take_turns_where_there_is_one_place() -> None:
    async def act() -> None:
        calls = Calls(1, shared=True)
        await calls.ask("a-1", "a-2", "a-3", "a-4", "b-1", "b-2")
        assert await calls.end_all() == ["a-1", "b-1", "a-2", "b-2", "a-3", "a-4"]

    run(act)


def test_who_gives_up_waiting_takes_no_place_and_a_failure_gives_its_place_back() -> None:
    async def act() -> None:
        calls = Calls(1)
        await calls.ask("a-1", "a-2")
        calls.tasks.pop().cancel()
        calls.end("a-1")
        with pytest.raises(ZeroDivisionError):
            await calls.pool.run(lambda: 1 // 0, ("a", "a-3"))
        assert await calls.pool.run(lambda: 7, ("b", "b-1")) == 7
        assert await calls.end_all() == ["a-1"]

    run(act)


def test_who_is_hurried_comes_in_the_order_of_the_wishes_and_once() -> None:
    async def act() -> None:
        calls = Calls(1)
        await calls.ask("a-1", "a-2", "a-3", "a-4")
        for name in ("a-4", "a-2", "a-4"):
            calls.pool.hurry(("a", name))
        await calls.ask("a-5", asked=True)
        assert await calls.end_all() == ["a-1", "a-4", "a-2", "a-5", "a-3"]

    run(act)


def test_a_place_costs_the_same_however_many_jobs_wait() -> None:
    few, many = (counted(waiting) for waiting in (4, 400))
    assert few == many


def counted(waiting: int) -> int:
    """Calls within the pool and its places from the end of one job's call to the beginning of the next one's."""
    found = 0

    def note(frame: types.FrameType, event: str, _: object) -> None:
        nonlocal found
        found += event == "call" and frame.f_code.co_filename.endswith(("/fair_pool.py", "/places.py"))

    async def act() -> None:
        calls = Calls(1)
        await calls.ask(*(f"a-{at}" for at in range(waiting)))
        sys.setprofile(note)
        try:
            calls.end("a-0")
            while len(calls.came) < 2:
                await asyncio.sleep(0.01)
        finally:
            sys.setprofile(None)
        await calls.end_all()

    run(act)
    return found
