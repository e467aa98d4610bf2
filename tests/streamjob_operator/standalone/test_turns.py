"""Large pages are read one after another, and no namespace waits for what others do."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest
from fake_agent import FakeAgent, Server

from streamjob_operator.agent_http.client import AgentClient, fixed_address
from streamjob_operator.agent_http.metrics import AgentMetrics
from streamjob_operator.agent_http.turns import HALF_LIFE_S, Turns
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


def any_has(readers: list[Reader]) -> bool:
    """Once one of them has its turn, within the limit."""
    return any(one.has.wait(0.05) for _ in range(int(LIMIT_S)) for one in readers)


def test_one_reads_at_a_time_whatever_its_namespace() -> None:
    turns = Turns(LIMIT_S)
    readers = [Reader(turns, "a"), Reader(turns, "a"), Reader(turns, "b")]
    waits(turns, 2)
    assert any_has(readers)
    while readers:
        has_it = [one for one in readers if one.has.is_set()]
        assert len(has_it) == 1
        has_it[0].end()
        readers.remove(has_it[0])
        if readers:
            waits(turns, len(readers) - 1)
            assert any_has(readers)


class Clock:
    """Time passes when the test says so."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def had(turns: Turns, clock: Clock, namespace: str, seconds: float) -> None:
    """It has had a turn that long."""
    with turns.turn(namespace):
        clock.now_s += seconds


def order(turns: Turns, *namespaces: str) -> list[str]:
    """In which order those namespaces are served that wait while another one reads; they begin to wait one by one."""
    now, readers = Reader(turns, "first"), list[tuple[str, Reader]]()
    assert now.has.wait(LIMIT_S)
    for at, one in enumerate(namespaces):
        readers.append((one, Reader(turns, one)))
        waits(turns, at + 1)
    served = list[str]()
    now.end()
    while readers:
        waits(turns, len(readers) - 1)
        assert any_has([one for _, one in readers])
        of, has_it = next((of, one) for of, one in readers if one.has.is_set())
        has_it.end()
        readers.remove((of, has_it))
        served.append(of)
    return served


def test_who_drips_costs_others_one_turn_and_not_every_second_one() -> None:
    clock = Clock()
    turns = Turns(LIMIT_S, clock)
    had(turns, clock, "drips", 30.0)
    had(turns, clock, "b", 1.0)  # by the order of their last turns it would be the turn of "drips"
    assert order(turns, "drips", "b", "b", "b") == ["b", "b", "b", "drips"]


def test_whoever_has_waited_longest_is_next_of_namespaces_alike_and_within_one() -> None:
    turns = Turns(LIMIT_S, Clock())
    assert order(turns, "b", "a", "c") == ["b", "a", "c"]


def test_what_was_long_ago_counts_less_and_is_forgotten() -> None:
    clock = Clock()
    turns = Turns(LIMIT_S, clock)
    had(turns, clock, "a", 30.0)
    clock.now_s += 3 * HALF_LIFE_S
    had(turns, clock, "b", 5.0)
    assert order(turns, "b", "a") == ["a", "b"], "30 s half an hour ago are less than 5 s now"
    clock.now_s += 20 * HALF_LIFE_S
    had(turns, clock, "c", 5.0)
    assert set(turns._had) == {"c"}


def test_a_turn_that_does_not_come_is_told() -> None:
    turns = Turns(0.0)
    with turns.turn("a"):
        for namespace in ("a", "b"):
            with pytest.raises(Unavailable, match="within 0 s its turn did not come"), turns.turn(namespace):
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
