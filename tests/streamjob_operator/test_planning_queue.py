"""Which plan gets the next free planning process."""

from __future__ import annotations

import itertools
import threading
import time

import pytest

from streamjob_operator.planning_queue import PlanningQueue


class Askers:
    """Threads that ask one after the other for a process and keep it until they are told to leave."""

    def __init__(self, size: int, *, shared: bool = False) -> None:
        self.queue: PlanningQueue[int] = PlanningQueue(size, lambda: shared)
        self.came: list[str] = []
        self.asked: set[str] = set()
        self._over: dict[str, threading.Event] = {}
        self._threads: list[threading.Thread] = []
        for one in range(size):
            self.queue.put(one)

    def ask(self, *names: str) -> None:
        """What stands before the dash is the namespace; a plan whose name ends so is large, or asked for."""
        for name in names:
            self._over[name] = threading.Event()
            self._threads.append(threading.Thread(target=self._ask, args=(name,), daemon=True))
            seen = len(self.came) + len(self.queue._waiting)
            self._threads[-1].start()
            _until(lambda seen=seen: len(self.came) + len(self.queue._waiting) > seen)

    def _ask(self, name: str) -> None:
        namespace, large = name.split("-", maxsplit=1)[0], name.endswith("large")
        worker = self.queue.take(
            namespace, 30.0, large=large, asked=lambda: name.endswith("asked") or name in self.asked
        )
        if worker is None:
            return
        self.came.append(name)
        self._over[name].wait(30.0)
        self.queue.put(worker)
        self.queue.leave(namespace, large=large)

    def end(self, name: str, *, then: int) -> list[str]:
        """Let it go; who has come once so many have, and no more a little later."""
        self._over[name].set()
        return self.until(then)

    def until(self, count: int) -> list[str]:
        _until(lambda: len(self.came) >= count)
        time.sleep(0.05)
        return self.came

    def end_all(self) -> None:
        for over in self._over.values():
            over.set()
        for thread in self._threads:
            thread.join(30.0)


def _until(there) -> None:
    over_s = time.monotonic() + 30.0
    while not there():
        assert time.monotonic() < over_s
        time.sleep(0.005)


def test_the_next_process_is_for_the_namespace_that_has_had_none() -> None:
    askers = Askers(1)
    askers.ask("a-1", "a-2", "a-3", "b-1", "c-1")
    assert askers.until(1) == ["a-1"]
    assert askers.end("a-1", then=2) == ["a-1", "b-1"]
    assert askers.end("b-1", then=3)[2:] == ["c-1"]
    assert askers.end("c-1", then=4)[3:] == ["a-2"]
    assert askers.end("a-2", then=5)[4:] == ["a-3"]
    askers.end_all()


def test_one_of_several_namespaces_leaves_processes_to_the_others() -> None:
    askers = Askers(4, shared=True)
    askers.ask("a-1", "a-2", "a-3", "a-4")
    assert askers.until(2) == ["a-1", "a-2"]
    askers.ask("b-1", "b-2", "c-1")
    assert askers.until(4) == ["a-1", "a-2", "b-1", "c-1"]
    assert askers.end("a-1", then=4)[4:] == []  # the last one is for whoever has none
    askers.end_all()


def test_a_namespace_that_is_alone_has_all_of_them() -> None:
    askers = Askers(2)
    askers.ask("a-1", "a-2", "a-3")
    assert askers.until(2) == ["a-1", "a-2"]
    askers.end_all()


def test_of_a_namespace_what_a_person_asked_for_comes_first() -> None:
    askers = Askers(1)
    askers.ask("a-1", "a-2", "a-3-asked", "a-4", "a-5-asked")
    assert askers.until(1) == ["a-1"]
    assert askers.end("a-1", then=2)[1:] == ["a-3-asked"]
    assert askers.end("a-3-asked", then=3)[2:] == ["a-5-asked"]
    assert askers.end("a-5-asked", then=4)[3:] == ["a-2"]
    askers.end_all()


def test_a_plan_that_waits_already_comes_first_once_a_person_asks_for_it() -> None:
    askers = Askers(1)
    askers.ask("a-1", "a-2", "a-3", "a-4")
    assert askers.until(1) == ["a-1"]
    askers.asked.add("a-4")
    assert askers.end("a-1", then=2)[1:] == ["a-4"]
    assert askers.end("a-4", then=3)[2:] == ["a-2"]
    askers.asked.add("a-3")
    assert askers.end("a-2", then=4)[3:] == ["a-3"]
    askers.end_all()


def test_who_wait_agree_whose_turn_it_is_while_a_person_asks() -> None:
    askers = Askers(1)
    askers.ask("a-1", *(f"a-{number}" for number in range(2, 9)))
    assert askers.until(1) == ["a-1"]
    calls = itertools.count()
    for one in askers.queue._waiting:  # says yes to some of the times that it is asked, as if people came and went
        one.asks = lambda: next(calls) % 3 == 1
    for count in range(2, 9):
        assert len(askers.end(askers.came[-1], then=count)) == count
    askers.end_all()


def test_a_person_s_plan_takes_nothing_from_a_namespace_that_has_fewer() -> None:
    askers = Askers(2)
    askers.ask("a-1", "a-2", "a-3-asked", "b-1", "c-1-asked", "d-1")
    assert askers.until(2) == ["a-1", "a-2"]
    assert askers.end("a-1", then=3)[2:] == ["c-1-asked"]
    assert askers.end("c-1-asked", then=4)[3:] == ["b-1"]
    assert askers.end("b-1", then=5)[4:] == ["d-1"]
    assert askers.end("d-1", then=6)[5:] == ["a-3-asked"]
    askers.end_all()


def test_large_plans_leave_one_and_do_not_hold_up_those_behind_them() -> None:
    askers = Askers(2)
    askers.ask("a-1-large", "a-2-large", "b-1-large", "a-3")
    assert askers.until(2) == ["a-1-large", "a-3"]
    assert askers.end("a-1-large", then=3)[2:] == ["b-1-large"]
    assert askers.end("b-1-large", then=4)[3:] == ["a-2-large"]
    askers.end_all()


def test_who_has_waited_too_long_waits_no_more() -> None:
    queue: PlanningQueue[int] = PlanningQueue(1, lambda: False)
    queue.put(7)
    assert queue.take("a", 1.0, large=False) == 7
    assert queue.take("b", 0.01, large=False) is None
    queue.put(7)
    queue.leave("a", large=False)
    assert queue.take("c", 1.0, large=True) == 7


@pytest.mark.parametrize("size", [1, 2])
def test_what_is_emptied_is_nobodys(size: int) -> None:
    queue: PlanningQueue[int] = PlanningQueue(size, lambda: False)
    for one in range(size):
        queue.put(one)
    assert queue.empty() == list(range(size))
    assert queue.take("a", 0.01, large=False) is None
