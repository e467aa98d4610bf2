"""What the guard does with an error: the caller gets a default, people get a sentence, and the job gets nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from streamjob_agent.guard import Guard, describe


def raising(error: BaseException) -> Callable[[], None]:
    def fault() -> None:
        raise error

    return fault


@pytest.fixture
def now_s() -> list[float]:
    return [1000.0]


@pytest.fixture
def guard(now_s: list[float]) -> Guard:
    return Guard(lambda: now_s[0])


def fail(guard: Guard, place: str, text: str = "made to fail") -> None:
    assert not guard.did(place, raising(ValueError(text)))


def test_a_result_passes_and_an_error_becomes_the_default(guard: Guard) -> None:
    assert guard.call("drain", lambda: 7, 0) == 7
    assert guard.call("drain", lambda: int("seven"), 0) == 0
    assert guard.did("place", lambda: None)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_the_users_interrupt_passes_on_the_main_thread_only(guard: Guard, error: type[BaseException]) -> None:
    with pytest.raises(error):
        guard.call("attach", raising(error()), None)
    thread = threading.Thread(target=guard.call, args=("attach", raising(error()), None))
    thread.start()
    thread.join(5)
    assert guard.errors() == {"attach": 1}


def test_errors_of_the_jvm_are_counted_told_and_logged_once_for_each_kind(
    guard: Guard, caplog: pytest.LogCaptureFixture
) -> None:
    fail(guard, "drain")
    caplog.clear()
    for total, sentence in (
        (2, "java.io.IOException: a"),
        (2, "java.io.IOException: a"),
        (3, "java.io.IOException: b"),
        (4, "java.lang.NoSuchMethodError: c"),
    ):
        guard.heard("bridge_hook", total, sentence)
    assert guard.errors() == {"drain": 1, "bridge_hook": 4}
    assert guard.newest_error() == "java.lang.NoSuchMethodError: c"
    assert [one.message for one in caplog.records if one.levelno == logging.WARNING] == [
        "StreamJob agent, bridge_hook: java.io.IOException: a (the job is not affected)",
        "StreamJob agent, bridge_hook: java.lang.NoSuchMethodError: c (the job is not affected)",
    ]
    assert guard.broken(["bridge_hook"], 1) is None


def test_what_the_jvm_has_told_already_is_no_news(guard: Guard) -> None:
    guard.heard("bridge_hook", 1, "java.io.IOException: a")
    fail(guard, "drain")
    guard.heard("bridge_hook", 1, "java.io.IOException: a")
    assert guard.newest_error() == "ValueError: made to fail"


def test_errors_are_counted_by_place_and_the_newest_is_told(guard: Guard) -> None:
    assert guard.newest_error() is None
    fail(guard, "drain", "first")
    fail(guard, "place", "second")
    fail(guard, "place", "third")
    guard.report("server", ValueError("caught elsewhere"))
    assert guard.errors() == {"drain": 1, "place": 2, "server": 1}
    assert guard.newest_error() == "ValueError: caught elsewhere"


def test_an_error_that_comes_again_is_the_newest_again(guard: Guard) -> None:
    for place, sentence in (("drain", "first"), ("traffic", "second"), ("drain", "third")):
        guard.report(place, ValueError(sentence))
    assert guard.newest_error() == "ValueError: third"


def test_a_kind_of_error_warns_once_at_each_place_and_is_for_debugging_from_then_on(
    guard: Guard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for error in (ValueError("a"), ValueError("b"), KeyError("c"), KeyError("d")):
        guard.report("drain", error)
    guard.report("place", ValueError("e"))
    warned = [record.args[1] for record in caplog.records if record.levelname == "WARNING"]  # type: ignore[index]
    assert warned == ["ValueError: a", "KeyError: 'c'", "ValueError: e"]
    assert len(caplog.records) == 5


def test_nothing_is_counted_nor_said_while_the_session_goes_away(
    guard: Guard, caplog: pytest.LogCaptureFixture
) -> None:
    guard.hush()
    fail(guard, "drain")
    assert (guard.errors(), guard.newest_error(), caplog.records) == ({}, None, [])


def test_a_place_is_broken_once_its_last_calls_all_failed(guard: Guard) -> None:
    for _ in range(2):
        fail(guard, "place")
    assert guard.broken(("drain", "place"), 3) is None
    guard.did("place", lambda: None)
    for text in ("one", "two", "three"):
        fail(guard, "place", text)
    assert guard.broken(("drain", "place"), 3) == "place failed 3 times in a row: ValueError: three"
    assert guard.broken(("drain",), 3) is None


def test_a_call_is_stuck_from_its_limit_on_until_it_comes_back(guard: Guard, now_s: list[float]) -> None:
    def slow() -> list[str | None]:
        now_s[0] += 60.0
        return [guard.stuck(limit_s) for limit_s in (60.0, 60.5)]

    assert guard.call("drain", slow, []) == ["drain has not come back for 60 s", None]
    assert guard.stuck(0.0) is None


def test_a_call_that_may_take_its_time_is_not_stuck_but_others_beside_it_are(guard: Guard, now_s: list[float]) -> None:
    entered, leave, found = threading.Event(), threading.Event(), []

    def read() -> None:
        entered.set()
        assert leave.wait(10)

    def look() -> None:
        now_s[0] += 60.0
        found.extend([guard.stuck(60.0, ("state_bytes",)), guard.stuck(60.0, ("state_bytes", "drain"))])

    reading = threading.Thread(target=guard.call, args=("state_bytes", read, None))
    reading.start()
    assert entered.wait(10)
    guard.call("drain", look, None)
    leave.set()
    reading.join(10)
    assert found == ["drain has not come back for 60 s", None]


@pytest.mark.parametrize("inner", [lambda: None, raising(ValueError("made to fail"))], ids=["works", "fails"])
def test_a_call_within_another_that_came_back_leaves_the_outer_one_stuck(
    guard: Guard, now_s: list[float], inner: Callable[[], None]
) -> None:
    def round_() -> list[str | None]:
        now_s[0] += 50.0
        guard.call("place", inner, None)
        now_s[0] += 10.0
        return [guard.stuck(60.0)]

    assert guard.call("round", round_, []) == ["round has not come back for 60 s"]
    assert guard.stuck(0.0) is None


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("two\n  lines"), "ValueError: two lines"),
        (ValueError(), "ValueError"),
        (ValueError("x" * 301), "ValueError: " + "x" * 300),  # what a status has room for
        (UnprintableError(), "UnprintableError: no text, its own text raised SystemExit"),
    ],
    ids=["lines", "no text", "long", "unprintable"],
)
def test_an_error_is_told_in_one_short_line(error: BaseException, sentence: str) -> None:
    assert describe(error) == sentence


def test_a_log_of_the_jobs_that_raises_reaches_nobody(guard: Guard) -> None:
    class Raising(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise ValueError("the job's own mistake")

    handler, log = Raising(), logging.getLogger("streamjob_agent")
    log.addHandler(handler)
    try:
        fail(guard, "drain")
        guard.heard("bridge_hook", 1, "IOException: gone")
    finally:
        log.removeHandler(handler)
    assert guard.errors() == {"drain": 1, "bridge_hook": 1}
