"""Answers of the compatibility table's queries, by hand on few lines, and properties of its input."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from e2e.compatibility import answers, lines
from e2e.compatibility.lines import START_S, Line


def line(key: str, value: int, after_s: int) -> Line:
    return Line(key, value, START_S + after_s)


def test_counts_and_filter() -> None:
    given = [line("a", 1, 0), line("a", 4, 1), line("b", 3, 2)]
    assert answers.counts(given) == [["a", 2, 5], ["b", 1, 3]]
    assert answers.odd(given) == [["a", 1], ["b", 3]]


def test_a_line_that_comes_twice_counts_once() -> None:
    assert answers.once([line("a", 1, 0), line("a", 1, 0), line("b", 1, 0)]) == [["a", 1], ["b", 1]]


def test_sessions_end_after_their_pause_and_not_before() -> None:
    given = [line("a", 1, 0), line("a", 2, 15), line("a", 3, 31), line("b", 1, 5)]
    assert answers.sessions(given) == [
        ["a", START_S, START_S + 30, 2],
        ["a", START_S + 31, START_S + 46, 1],
        ["b", START_S + 5, START_S + 20, 1],
    ]


def test_joins_in_time() -> None:
    given = [line("a", 2, 0), line("a", 1, 10), line("a", 3, 11), line("b", 4, 5), line("b", 5, 4)]
    assert answers.inner(given) == [["a", 2, 1]]
    assert answers.outer(given) == [["a", 2, 1], ["b", 4, None]]


def test_timers_tell_totals_once() -> None:
    assert answers.timers([line("a", 1, 0), line("a", 1, 0), line("a", 4, 3)]) == [["a", 3, 6, 2, 1]]


def test_no_line_is_late() -> None:
    for number in range(20):
        before, after = lines.lines(number), lines.lines(number + 1)
        assert max(one.at_s for one in before) < min(one.at_s for one in after)


def test_sessions_of_the_input_end_while_it_goes_on() -> None:
    given = [one for number in range(12) for one in lines.lines(number)]
    rows = answers.sessions(given)
    assert len(rows) > len({row[0] for row in rows})


def test_input_is_the_same_each_time_and_has_each_line_twice() -> None:
    assert lines.lines(7) == lines.lines(7)
    assert len(lines.lines(7)) == 2 * len(set(lines.lines(7)))
