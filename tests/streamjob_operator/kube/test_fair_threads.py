"""One namespace's jobs hang: another's have their turn all the same."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from streamjob_operator.kube.job.rest import CYCLE_DUE, Rest
from streamjob_operator.kube.process.fair import FairThreads
from streamjob_operator.kube.process.jobs import Jobs


class Hanging:
    """Cycles of the namespace `hung` last until `over`; each job is gone after its cycle."""

    def __init__(self, namespace: str, over: threading.Event, cycled: list[str]) -> None:
        self.namespace, self.over, self.cycled = namespace, over, cycled

    def turn(self, *, cycle: bool) -> Rest:
        if not cycle:
            return CYCLE_DUE
        if self.namespace == "hung":
            self.over.wait(30.0)
        self.cycled.append(self.namespace)
        return None

    def fail(self, sentence: str) -> None:
        raise AssertionError(sentence)

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("workers", [2, 4, 16])
def test_another_namespaces_job_has_its_cycle_while_one_namespaces_hang(workers: int) -> None:
    over, cycled = threading.Event(), list[str]()

    async def care() -> None:
        with ThreadPoolExecutor(4) as looks, ThreadPoolExecutor(workers) as cycles:
            jobs = Jobs(
                lambda namespace, _: Hanging(namespace, over, cycled),
                FairThreads(looks, 4),
                FairThreads(cycles, workers),
            )
            for number in range(3 * workers):
                jobs.wake("hung", f"job-{number}")
            await asyncio.sleep(0.2)
            jobs.wake("other", "job")
            try:
                async with asyncio.timeout(10.0):
                    while not cycled:
                        await asyncio.sleep(0.01)
            finally:
                over.set()
            assert cycled[0] == "other"
            while len(jobs):
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(care(), 40.0))
    assert cycled.count("hung") == 3 * workers


@contextlib.contextmanager
def threads(number: int) -> Iterator[tuple[FairThreads, threading.Event]]:
    """They and what ends all that hangs in them."""
    over = threading.Event()
    with ThreadPoolExecutor(number) as pool:
        try:
            yield FairThreads(pool, number), over
        finally:
            over.set()


@pytest.mark.parametrize(
    ("number", "namespaces", "held"),
    [(1, 1, [1]), (2, 1, [1]), (3, 1, [2]), (16, 1, [8]), (16, 2, [4, 8]), (16, 9, [1, 1, 2, 4, 8])],
    ids=str,
)
def test_what_namespaces_hold_whose_jobs_all_hang(number: int, namespaces: int, held: list[int]) -> None:
    begun: list[int] = []

    async def hang() -> None:
        with threads(number) as (fair, over):

            def work(namespace: int) -> None:
                begun.append(namespace)
                over.wait(30.0)

            tasks = [
                asyncio.create_task(fair.run(str(one), lambda one=one: work(one)))  # type: ignore[misc]
                for one in range(namespaces)
                for _ in range(20)
            ]
            await asyncio.sleep(0.3)
            found = sorted(begun.count(one) for one in set(begun))
            over.set()
            await asyncio.gather(*tasks)
            assert found == held

    asyncio.run(asyncio.wait_for(hang(), 40.0))
    assert len(begun) == 20 * namespaces


def test_one_namespace_alone_has_all_threads() -> None:
    both = threading.Barrier(2)

    async def meet() -> None:
        with ThreadPoolExecutor(2) as pool:
            fair = FairThreads(pool, 2, shared=False)
            await asyncio.gather(*(fair.run("a", lambda: both.wait(10.0)) for _ in range(2)))

    asyncio.run(asyncio.wait_for(meet(), 20.0))


def test_namespaces_take_turns_where_there_is_one_thread() -> None:
    done: list[str] = []

    async def both() -> None:
        with threads(1) as (fair, _):
            names = ["a"] * 4 + ["b"] * 2
            await asyncio.gather(*(fair.run(name, lambda name=name: done.append(name)) for name in names))  # type: ignore[misc]

    asyncio.run(asyncio.wait_for(both(), 20.0))
    assert done == ["a", "a", "b", "a", "b", "a"]


def test_who_no_longer_waits_takes_nobodys_thread_and_a_failure_gives_it_back() -> None:
    async def one() -> None:
        with threads(1) as (fair, over):
            first = asyncio.create_task(fair.run("a", lambda: over.wait(30.0)))
            await asyncio.sleep(0)
            left = asyncio.create_task(fair.run("b", over.set))
            await asyncio.sleep(0)
            left.cancel()
            over.set()
            await first
            with pytest.raises(ZeroDivisionError):
                await fair.run("c", lambda: 1 // 0)
            assert await fair.run("d", lambda: "done") == "done"

    asyncio.run(asyncio.wait_for(one(), 40.0))
