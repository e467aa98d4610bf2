"""What becomes of a StreamJob's task when a turn fails."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from streamjob_operator.kube.api.refusals import Conflict, Refused
from streamjob_operator.kube.job.rest import CYCLE_DUE, Rest
from streamjob_operator.kube.process import jobs as process
from streamjob_operator.kube.process.fair_pool import Threads
from streamjob_operator.kube.process.jobs import TELL_AFTER, Jobs
from streamjob_operator.ports import Stale, Unavailable

FORBIDDEN = Refused(403, "Forbidden", "pods is forbidden")


class Scripted:
    """A keeper whose first `times` turns end with `accident`; then its StreamJob is gone."""

    def __init__(self, accident: Exception, telling: Exception | None = None, times: int = 1) -> None:
        self.accidents = [accident] * times
        self.telling = telling
        self.told: list[str] = []
        self.closed = False

    def turn(self, *, cycle: bool) -> Rest:
        if self.accidents:
            raise self.accidents.pop()
        return None

    def fail(self, sentence: str) -> None:
        self.told.append(sentence)
        if self.telling is not None:
            raise self.telling

    def close(self) -> None:
        self.closed = True


def run(keeper: Scripted) -> None:
    """Until the job's task has ended."""

    async def care() -> None:
        with ThreadPoolExecutor(1) as pool:
            jobs = Jobs(lambda *_: keeper, *[Threads(executor=pool, size=1)] * 2)
            jobs.wake("n", "orders")
            while len(jobs):
                jobs.wake("n", "orders")  # no wait for the next turn
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(care(), 30.0))
    assert keeper.closed


@pytest.mark.parametrize(
    ("accident", "told"),
    [(FORBIDDEN, "pods is forbidden"), (KeyError("spec"), "KeyError: 'spec'")],
    ids=["refused", "mistake"],
)
def test_what_will_not_pass_by_itself_is_told(accident: Exception, told: str) -> None:
    keeper = Scripted(accident)
    run(keeper)
    assert keeper.told == [told]


@pytest.mark.parametrize("accident", [Unavailable("down"), Stale("old"), Conflict(409, "Conflict", "faster")])
def test_what_passes_by_itself_is_not_told(accident: Exception) -> None:
    keeper = Scripted(accident)
    run(keeper)
    assert keeper.told == []


@pytest.mark.parametrize("accident", [Unavailable("failed calling webhook"), Conflict(409, "Conflict", "faster")])
def test_what_should_pass_by_itself_and_does_not_is_told(accident: Exception) -> None:
    keeper = Scripted(accident, times=TELL_AFTER + 1)
    run(keeper)
    assert keeper.told == [str(accident)] * 2


def test_a_job_that_fails_for_days_is_cared_for_when_that_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wait doubles, and numbers end somewhere."""
    waited: list[float] = []

    async def no_time(_: object, seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(process, "_sleep", no_time)
    keeper = Scripted(Unavailable("down"), times=1100)
    run(keeper)
    assert (keeper.accidents, len(keeper.told)) == ([], 1100 - TELL_AFTER + 1)
    failing = waited[:1100]  # one that is woken in its last turn looks once more, at once
    assert failing[:3] == [1.0, 2.0, 4.0]
    assert max(failing) == failing[-1] == process.LONGEST_WAIT_S


@pytest.mark.parametrize("telling", [FORBIDDEN, Unavailable("down"), KeyError("status")])
def test_a_failure_that_cannot_be_told_does_not_end_the_care(telling: Exception) -> None:
    keeper = Scripted(FORBIDDEN, telling)
    run(keeper)
    assert len(keeper.told) == 1


class Planning:
    """Jobs whose names begin with `slow` plan until `over`; any other one is gone after its first look."""

    def __init__(self, name: str, over: threading.Event, looked: list[str]) -> None:
        self.name, self.over, self.looked = name, over, looked

    def turn(self, *, cycle: bool) -> Rest:
        if self.over.is_set() or not self.name.startswith("slow"):
            self.looked.append(self.name)
            return None
        if not cycle:
            return CYCLE_DUE
        self.over.wait(30.0)
        return None

    def fail(self, sentence: str) -> None:
        raise AssertionError(sentence)

    def close(self) -> None:
        """Nothing is open."""


def test_looks_do_not_wait_for_the_plans_of_other_jobs() -> None:
    over, looked = threading.Event(), list[str]()

    async def care() -> None:
        with ThreadPoolExecutor(1) as looks, ThreadPoolExecutor(1) as cycles:
            threads = [Threads(executor=one, size=1) for one in (looks, cycles)]
            jobs = Jobs(lambda _, name: Planning(name, over, looked), *threads)
            for name in ("slow-1", "slow-2", "deleted"):
                jobs.wake("n", name)
            while not looked:
                await asyncio.sleep(0.01)
            assert looked == ["deleted"]
            over.set()
            while len(jobs):
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(care(), 20.0))


class Hung(Planning):
    """Its cycle waits for a Prometheus that hangs; another keeper of it sees that the StreamJob is to go."""

    keepers = 0

    def __init__(self, name: str, over: threading.Event, looked: list[str]) -> None:
        super().__init__(name, over, looked)
        Hung.keepers += 1
        self.first = Hung.keepers == 1

    def turn(self, *, cycle: bool) -> Rest:
        if self.first and not cycle:
            return CYCLE_DUE
        if self.first:
            self.looked.append("cycle")
            self.over.wait(30.0)
            self.looked.append("over")
        self.looked.append("ended")
        return None

    def close(self) -> None:
        self.looked.append("closed")


def test_a_job_that_is_to_go_does_not_wait_for_its_own_cycle() -> None:
    """Which may wait for a Prometheus for as long as its spec allows, and for a plan: `kubectl delete` waited along."""
    over, looked = threading.Event(), list[str]()
    Hung.keepers = 0

    async def care() -> None:
        with ThreadPoolExecutor(1) as looks, ThreadPoolExecutor(2) as cycles:
            threads = [Threads(executor=looks, size=1), Threads(executor=cycles, size=2)]
            jobs = Jobs(lambda _, name: Hung(name, over, looked), *threads)
            jobs.wake("n", "orders", going=False)
            while not looked:
                await asyncio.sleep(0.01)
            jobs.wake("n", "orders", going=True)
            while len(jobs) or len(looked) < 3:  # its keeper is closed after it
                await asyncio.sleep(0.01)
            assert looked == ["cycle", "ended", "closed"]
            over.set()
            await jobs.stop()

    asyncio.run(asyncio.wait_for(care(), 20.0))
    assert looked[3:] == ["over", "ended", "closed"]


def test_what_was_merely_listed_waits_for_its_first_turn_and_what_changes_does_not() -> None:
    looked: list[str] = []

    async def care() -> None:
        over = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            threads = [Threads(executor=pool, size=1)] * 2
            jobs = Jobs(lambda _, name: Planning(name, over, looked), *threads, first_wait_s=lambda: 3600.0)
            for name in ("old", "edited"):
                jobs.wake("n", name, listed=True)
            jobs.wake("n", "old", listed=True)  # its map was listed, too
            await asyncio.sleep(0)
            jobs.wake("n", "edited")
            jobs.wake("n", "new")
            while len(looked) < 2:
                await asyncio.sleep(0.01)
            assert len(jobs) == 1
            await jobs.stop()

    asyncio.run(asyncio.wait_for(care(), 20.0))
    assert sorted(looked) == ["edited", "new"]


class Queued(Planning):
    """A job of whose turns is known when they came; the first one lasts until `over`."""

    def turn(self, *, cycle: bool) -> Rest:
        self.looked.append(self.name)
        self.over.wait(30.0)
        return None


def test_what_a_person_changes_comes_first_also_where_its_turn_waits_already() -> None:
    over, looked = threading.Event(), list[str]()

    async def care() -> None:
        with ThreadPoolExecutor(1) as pool:
            jobs = Jobs(lambda _, name: Queued(name, over, looked), *[Threads(executor=pool, size=1)] * 2)
            for name in ("first", "second", "third"):
                jobs.wake("n", name)
                await asyncio.sleep(0.01)
            jobs.wake("n", "third", asked=True)
            over.set()
            while len(jobs):
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(care(), 20.0))
    assert looked[:2] == ["first", "third"]


def test_a_change_is_urgent_once() -> None:
    urgent: list[bool] = []

    async def care() -> None:
        with ThreadPoolExecutor(1) as pool:

            class Seen(Scripted):
                def turn(self, *, cycle: bool) -> Rest:
                    urgent.append(("n", "orders") in jobs._asked)
                    return None if len(urgent) > 1 else 0.01

            jobs = Jobs(lambda *_: Seen(FORBIDDEN, times=0), *[Threads(executor=pool, size=1)] * 2)
            jobs.wake("n", "orders", asked=True)
            while len(jobs):
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(care(), 20.0))
    assert urgent == [True, False]


def test_a_cycle_knows_that_a_person_has_asked_since_it_began() -> None:
    known: list[bool] = []

    async def care() -> None:
        with ThreadPoolExecutor(2) as pool:
            begun, over = threading.Event(), threading.Event()

            class Seen(Scripted):
                def turn(self, *, cycle: bool) -> Rest:
                    if not cycle:
                        return CYCLE_DUE if not known else None
                    known.append(jobs.asked("n", "orders"))
                    begun.set()
                    over.wait(20.0)
                    known.append(jobs.asked("n", "orders"))
                    return 0.01

            jobs = Jobs(lambda *_: Seen(FORBIDDEN, times=0), *[Threads(executor=pool, size=1)] * 2)
            jobs.wake("n", "orders")
            await asyncio.to_thread(begun.wait, 20.0)
            jobs.wake("n", "orders", asked=True)
            over.set()
            while len(jobs):
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(care(), 20.0))
    assert known == [False, True]


class Hanging(Planning):
    """Cycles of the namespace `hung` last until `over`; each job is gone after its cycle."""

    def turn(self, *, cycle: bool) -> Rest:
        if not cycle:
            return CYCLE_DUE
        if self.name == "hung":
            self.over.wait(30.0)
        self.looked.append(self.name)
        return None


@pytest.mark.parametrize("workers", [2, 4, 16])
def test_another_namespaces_job_has_its_cycle_while_one_namespaces_hang(workers: int) -> None:
    over, cycled = threading.Event(), list[str]()

    async def care() -> None:
        with ThreadPoolExecutor(4) as looks, ThreadPoolExecutor(workers) as cycles:
            threads = (Threads(executor=looks, size=4), Threads(executor=cycles, size=workers))
            jobs = Jobs(lambda namespace, _: Hanging(namespace, over, cycled), *threads)
            jobs.wake("other", "first")
            for number in range(3 * workers):
                jobs.wake("hung", f"job-{number}")
            while not cycled:
                await asyncio.sleep(0.01)
            jobs.wake("other", "second")
            while cycled.count("other") < 2:
                await asyncio.sleep(0.01)
            over.set()
            while len(jobs):
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(care(), 40.0))
    assert cycled[:2] == ["other", "other"]
    assert cycled.count("hung") == 3 * workers
