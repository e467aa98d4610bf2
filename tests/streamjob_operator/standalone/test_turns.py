"""Large pages are read one after another, and no namespace waits for what others do."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest
from fake_agent import FakeAgent, Server

from streamjob_operator.agent_http.client import AgentClient, fixed_address
from streamjob_operator.agent_http.metrics import AgentMetrics
from streamjob_operator.agent_http.turns import Turns
from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.ports import Unavailable

LIMIT_S = 60.0


class Reader:
    """Takes a turn in a thread of its own, and has it until it is let go."""

    def __init__(self, turns: Turns, namespace: str) -> None:
        self.has, self._may_end = threading.Event(), threading.Event()
        self._turns, self._namespace = turns, namespace
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self._turns.turn(self._namespace):
            self.has.set()
            assert self._may_end.wait(LIMIT_S)

    def end(self) -> None:
        assert self.has.wait(LIMIT_S)
        self._may_end.set()
        self._thread.join(LIMIT_S)


def waits(turns: Turns, count: int) -> None:
    """Until so many wait."""
    with turns._changed:
        assert turns._changed.wait_for(lambda: len(turns._waiting) == count, LIMIT_S)


def test_a_namespace_reads_one_at_a_time_and_another_beside_it() -> None:
    turns = Turns(LIMIT_S)
    first, second = Reader(turns, "a"), Reader(turns, "a")
    other = Reader(turns, "b")
    assert other.has.wait(LIMIT_S)
    assert first.has.wait(LIMIT_S) or second.has.wait(LIMIT_S)
    assert not (first.has.is_set() and second.has.is_set())
    for one in (first, second) if first.has.is_set() else (second, first):
        one.end()
    other.end()


def test_whose_namespace_has_waited_longest_is_next_however_many_of_another_came_before() -> None:
    turns = Turns(LIMIT_S)
    now = [Reader(turns, "a"), Reader(turns, "b")]
    for one in now:
        assert one.has.wait(LIMIT_S)
    many = [Reader(turns, "a") for _ in range(5)]
    waits(turns, 5)
    other = Reader(turns, "c")
    waits(turns, 6)
    now[0].end()
    assert other.has.wait(LIMIT_S)
    assert not any(one.has.is_set() for one in many)
    now[1].end()
    other.end()
    while many:
        has_it = next((one for one in many if one.has.wait(0.01)), None)
        if has_it is not None:
            has_it.end()
            many.remove(has_it)


def test_a_turn_that_does_not_come_is_told() -> None:
    turns = Turns(0.0)
    with turns.turn("a"):
        with pytest.raises(Unavailable, match="within 0 s its turn did not come"), turns.turn("a"):
            pass
        with turns.turn("b"):
            pass
    with turns.turn("a"):
        pass


class Counted:
    """Turns that come at once, or never."""

    def __init__(self) -> None:
        self.taken = 0
        self.comes = True

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        if not self.comes:
            raise Unavailable("its turn did not come")
        self.taken += 1
        yield


LIMITS = ReadingLimits(large_bytes=10_000)


@pytest.fixture
def counted() -> Counted:
    return Counted()


def test_small_pages_wait_for_nobody_and_large_ones_for_their_turn(counted: Counted) -> None:
    agent, now = FakeAgent(), [100.0]
    with Server(agent) as address:
        client = AgentClient(fixed_address(address))
        metrics = AgentMetrics(client, 10.0, lambda: now[0], turn=counted.turn, limits=LIMITS)

        def scrape() -> None:
            now[0] += 5.0
            agent.advance(1.0, 1.0, 1.0, 1.0)
            metrics.scrape()

        scrape()
        assert counted.taken == 0
        agent.spoiled = ("streamjob_agent_info", "# " + 20_000 * "x" + "\nstreamjob_agent_info")
        for _ in range(3):
            scrape()
        assert (counted.taken, metrics.failed_scrapes) == (3, 0)
        assert metrics.observe(now[0], 10.0).busy_s.tolist() == [2.0] * 4
        counted.comes = False
        with pytest.raises(Unavailable, match="its turn did not come"):
            metrics.observe(now[0], 10.0)
        counted.comes, agent.spoiled = True, None
        scrape()
        counted.comes = False
        scrape()
        assert metrics.failed_scrapes == 0
        assert metrics.observe(now[0], 10.0).busy_s.tolist() == [2.0] * 4


def test_a_source_that_is_closed_does_not_read_once_its_turn_comes(counted: Counted) -> None:
    agent = FakeAgent(garbage=b"x" * 20_000)
    with Server(agent) as address:
        client = AgentClient(fixed_address(address))
        metrics = AgentMetrics(client, 10.0, turn=counted.turn, limits=LIMITS)
        metrics.let_go()
        metrics.scrape()
        assert (counted.taken, metrics.failed_scrapes) == (1, 1)
        with pytest.raises(Unavailable, match="not read any more"), metrics._reading():
            pass
