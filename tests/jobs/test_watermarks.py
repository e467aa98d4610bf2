"""Spark's rules for event time, as answers use them."""

from __future__ import annotations

import dataclasses

from jobs.job import Taken
from jobs.sessions import Sessions
from jobs.watermarks import Mark, changed, closed, column, marks, windows


def took(**streams: list[int]) -> Taken:
    return Taken(rows={name: [{"at_ms": at} for at in times] for name, times in streams.items()}, clock_ms=0)


def mark(late_ms: int, now_ms: int) -> Mark:
    return Mark(late_ms=late_ms, now_ms=now_ms)


def test_a_watermark_counts_from_the_next_batch_on_and_for_late_rows_from_the_one_after() -> None:
    batches = [took(a=[100, 50]), took(a=[70]), took(a=[300]), took()]
    assert marks(batches, (column("a"), 20)) == [mark(0, 0), mark(0, 80), mark(80, 80), mark(80, 280)]


def test_the_watermark_of_two_streams_is_the_one_furthest_behind_and_0_while_one_is_silent() -> None:
    batches = [took(a=[100]), took(a=[200], b=[50]), took(b=[500]), took()]
    found = marks(batches, (column("a"), 0), (column("b"), 10))
    assert [one.now_ms for one in found] == [0, 0, 40, 200]


def test_spark_may_stay_behind_with_two_streams_after_a_restart_and_is_never_believed_ahead() -> None:
    """Started again after the first batch it has forgotten b, until the third one brings it again."""
    batches = [took(a=[100], b=[900]), took(a=[300]), took(b=[310]), took(a=[320]), took()]
    logged = [0, 100, 100, 300, 999]
    seen = [dataclasses.replace(one, watermark_ms=at) for one, at in zip(batches, logged, strict=True)]
    clocks = ((column("a"), 0), (column("b"), 0))
    assert [one.now_ms for one in marks(seen, *clocks)] == [0, 100, 100, 300, 320]
    assert [one.now_ms for one in marks(batches, *clocks)] == [0, 100, 300, 300, 320]
    assert [one.now_ms for one in marks(seen, clocks[0])] == [0, 100, 300, 300, 320], "one stream is not forgotten"


def test_windows_have_their_start_and_not_their_end() -> None:
    assert windows(10, 10) == [20]
    assert windows(19, 10) == [20]
    assert windows(19, 10, 5) == [20, 25]
    assert windows(20, 10, 5) == [25, 30]


def test_a_window_closes_once_and_takes_no_late_row() -> None:
    arrivals = [
        (mark(0, 0), [(10, "k", 1), (20, "k", 1)]),
        (mark(0, 10), [(10, "k", 1)]),  # late by the watermark, and still in time for Spark
        (mark(10, 20), [(10, "k", 1), (30, "k", 1)]),
    ]
    assert list(closed(arrivals, lambda one, other: one + other)) == [[], [(10, "k", 2)], [(20, "k", 1)]]


def test_updates_show_the_keys_of_the_batch_with_all_that_came_before() -> None:
    assert list(changed([[("a", 1), ("b", 2)], [("a", 3)]], max)) == [{"a": 1, "b": 2}, {"a": 3}]


def test_sessions_merge_when_a_row_comes_between_them_and_close_behind_the_watermark() -> None:
    sessions: Sessions[str, int] = Sessions()
    assert list(sessions.take(mark(0, 0), [("k", 0, 10, 1), ("k", 18, 10, 2)])) == []
    assert list(sessions.take(mark(0, 9), [("k", 9, 10, 3)])) == []
    assert list(sessions.take(mark(9, 28), [("k", 40, 10, 4)])) == [("k", (0, 28, [1, 3, 2]))]
    assert list(sessions.take(mark(28, 28), [("k", 17, 10, 5)])) == []  # ended before the watermark: late
