"""Times that are over, and those that are not: with one thread for all."""

from __future__ import annotations

import threading

from streamjob_operator.deadlines import Deadlines

LONG_S = 3600.0


def test_what_is_over_is_done_in_order_and_what_was_cancelled_is_not() -> None:
    now_s, done, end = [0.0], list[str](), threading.Event()
    deadlines = Deadlines(lambda: now_s[0])
    deadlines.after(LONG_S, lambda: done.append("much later"))
    cancelled = deadlines.after(0.02, lambda: done.append("cancelled"))
    cancelled.cancel()
    deadlines.after(0.06, end.set)
    deadlines.after(0.04, lambda: done.append("second"))
    deadlines.after(0.03, lambda: done.append("first"))  # before what is waited for already
    now_s[0] = 1.0
    assert end.wait(10.0)
    assert done == ["first", "second"]
    assert cancelled.cancelled


def test_one_thread_serves_all_of_them_and_outlives_what_fails() -> None:
    deadlines, end, names = Deadlines(), threading.Event(), set[str]()

    def fail() -> None:
        names.add(f"{threading.get_ident()}")
        raise OSError("the peer is gone")

    for _ in range(5):
        deadlines.after(0.0, fail)
    deadlines.after(0.0, end.set)
    assert end.wait(10.0)
    assert len(names) == 1


def test_what_a_cancelled_one_held_is_let_go() -> None:
    """Questions are asked by the thousand, each with a limit of half a minute."""
    deadlines, held = Deadlines(), [0]
    for _ in range(3):
        one = deadlines.after(LONG_S, held.clear)
        one.cancel()
        one.over()
    assert held == [0]
