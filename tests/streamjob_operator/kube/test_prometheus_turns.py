"""Large answers of Prometheus are taken in turn, as agents' large pages are, and nobody waits with a small one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from prometheus_answers import limited_while, sent
from test_prometheus_whole import NOTHING, answering, drip

from streamjob_operator.deadlines import Deadline
from streamjob_operator.kube.metrics.http import Connection, Settings
from streamjob_operator.kube.metrics.whole import Whole
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.ports import Unavailable

LARGE_BYTES = 10_000


class Counted:
    """Turns that come at once, or never."""

    def __init__(self) -> None:
        self.comes, self.log = True, list[str]()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        if not self.comes:
            raise Unavailable("its turn did not come")
        self.log.append("taken")
        try:
            yield
        finally:
            self.log.append("left")


@contextlib.contextmanager
def asking(answer: Callable[[BaseHTTPRequestHandler], None], counted: Counted) -> Iterator[Connection]:
    with answering(answer) as url:
        limits = ReadingLimits(large_bytes=LARGE_BYTES)
        connection = Connection(Settings(url=url, timeout_s=60.0), limits=limits, turn=counted.turn)
        try:
            yield connection
        finally:
            connection.close()


def test_a_small_answer_takes_no_turn() -> None:
    counted = Counted()
    counted.comes = False
    with asking(lambda handler: sent(handler, NOTHING), counted) as connection:
        assert connection.query("vector(1)") == []


def test_a_large_answer_has_its_turn_until_what_it_held_is_used() -> None:
    counted, bodies = Counted(), [NOTHING, b" " * 2 * LARGE_BYTES + NOTHING, b" " * 2 * LARGE_BYTES + NOTHING]
    with asking(lambda handler: sent(handler, bodies.pop()), counted) as connection:
        connection.query("vector(1)")
        assert counted.log == ["taken"]
        connection.query("vector(1)")
        assert counted.log == ["taken", "left", "taken"], "the next question is asked once the former one is done with"
        connection.query("vector(1)")
        assert counted.log == ["taken", "left", "taken", "left"]
        connection.settle()
        assert len(counted.log) == 4


def test_what_is_taken_apart_is_held_by_few_and_by_nobody_who_waits_for_an_answer() -> None:
    held, seen = threading.Semaphore(1), list[bool]()

    def free() -> bool:
        found = held.acquire(blocking=False)
        if found:
            held.release()
        return found

    def answer(handler: BaseHTTPRequestHandler) -> None:
        seen.append(free())
        sent(handler, NOTHING)

    with answering(answer) as url:
        connection = Connection(Settings(url=url, timeout_s=60.0), apart=held)
        for _ in range(2):
            connection.query("vector(1)")
            assert not free()
        connection.settle()
        assert free()
        connection.query("vector(1)")
        connection.close()
    assert free()
    assert seen == [True, True, True]


def test_a_connection_that_is_closed_leaves_its_turn() -> None:
    counted = Counted()
    with asking(lambda handler: sent(handler, b" " * 2 * LARGE_BYTES + NOTHING), counted) as connection:
        connection.query("vector(1)")
    assert counted.log == ["taken", "left"]


def test_a_turn_that_does_not_come_is_told_with_a_code() -> None:
    counted = Counted()
    counted.comes = False
    with asking(lambda handler: sent(handler, b" " * 2 * LARGE_BYTES + NOTHING), counted) as connection:
        with pytest.raises(Unavailable, match="its turn did not come") as caught:
            connection.query("vector(1)")
        assert caught.value.code == KubeReason.PROMETHEUS_UNAVAILABLE


def test_what_drips_in_its_turn_ends_and_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time until its turn has no end here and that of its turn is over soon: a busy machine takes long for both."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        with contextlib.suppress(OSError):
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.end_headers()
            handler.wfile.write(b" " * 2**21)
            drip(handler, b" ")
            handler.wfile.write(NOTHING)

    counted = Counted()
    limited_while(monkeypatch, lambda: counted.log, 0.2)
    with asking(answer, counted) as connection:
        with pytest.raises(Unavailable, match="rest of a large answer within 30 s of its turn"):
            connection.query("vector(1)")
        connection.settle()
    assert counted.log == ["taken", "left"]


def test_what_is_waited_for_on_our_side_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Timers on paper, with how many seconds each began: of 20 s a question has used 5 before it waits."""
    now, started = [100.0], list[float]()
    monkeypatch.setattr("streamjob_operator.kube.metrics.whole.time.monotonic", lambda: now[0])

    def after(seconds: float, act: Callable[[], None]) -> Deadline:
        started.append(seconds)
        return Deadline(act)

    monkeypatch.setattr("streamjob_operator.kube.metrics.whole.DEADLINES.after", after)
    whole = Whole(20.0)
    with whole.limited():
        now[0] += 5.0
        with whole.waiting(30.0):
            now[0] += 1000.0
    assert started == [20.0, 15.0]
    started.clear()
    long = Whole(300.0)
    with long.limited(), long.waiting(30.0):
        pass
    assert started == [300.0, 30.0]
