"""What a scrape interval costs, from pages and readings that are written down here."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from benchmarks.scrapes.course import GROUPS, LONGEST_S, SHIFTED, SHORTEST_S, course
from benchmarks.scrapes.figures import Spread, Told, Watched, delays_s, figures_of, shift_seen, spread, stored_s
from benchmarks.scrapes.table import table


def told(*moments: tuple[float, float]) -> list[Told]:
    """Readings: when, and the end of the newest batch in them."""
    return [Told(at_s=at_s, newest_end_s=end_s, batches=1) for at_s, end_s in moments]


def seen_from(readings: list[Told], at_s: float) -> list[Told]:
    return [dataclasses.replace(one, changed=one.at_s >= at_s) for one in readings]


def scraped(ends_s: list[float], interval_s: float, takes_s: float = 0.0) -> list[Told]:
    """Readings that come so long after each scrape."""
    moments = np.arange(interval_s, ends_s[-1] + 2 * interval_s, interval_s).tolist()
    newest = [(at, max((end for end in ends_s if end <= at), default=0.0)) for at in moments]
    pairs = itertools.pairwise([(0.0, 0.0), *newest])
    return told(*((at + takes_s, end) for (_, before), (at, end) in pairs if end > before))


def test_a_batch_waits_for_the_first_reading_that_has_it() -> None:
    readings = told((3.0, 1.5), (6.0, 5.0), (9.0, 8.5))
    assert delays_s([1.0, 1.5, 3.5, 5.0, 8.5, 9.5], readings).tolist() == [2.5, 1.0, 0.5]


def test_a_page_is_stored_when_the_first_reading_has_its_newest_batch() -> None:
    pages, readings = told((1.0, 0.5), (3.0, 2.5), (6.0, 5.5)), told((1.5, 0.5), (3.25, 2.5), (6.75, 5.5))
    assert stored_s(pages, readings).tolist() == [0.25, 0.75]


def test_what_nobody_read_waits_for_nothing() -> None:
    assert delays_s([1.0, 2.0], []).size == 0
    assert delays_s([1.0, 2.0], told((3.0, 2.0))).size == 0


@pytest.mark.parametrize("interval_s", [1.0, 5.0, 15.0])
def test_a_scrape_costs_half_an_interval_and_a_whole_one_at_most(interval_s: float) -> None:
    ends_s = course(3, 1500.0, 0.0).ends_s.tolist()
    delay = spread(delays_s(ends_s, scraped(ends_s, interval_s, takes_s=0.25)))
    assert delay.mean == pytest.approx(interval_s / 2 + 0.25, rel=0.1)
    assert 0.9 * interval_s + 0.25 < delay.largest <= interval_s + 0.25


SHIFTED_S = [100.0, 102.0, 104.0, 112.0, 114.0]
READ = ((99.0, 98.0), (108.5, 104.0), (115.0, 114.0), (121.0, 120.0))


@pytest.mark.parametrize(
    ("rows", "from_s", "batches", "after_s", "sees"),
    [
        (1, 108.5, 3, 8.5, True),
        (1, 115.0, 5, 15.0, False),
        (3, 108.5, 3, 8.5, True),
        (3, 115.0, 5, 15.0, True),
        (3, 121.0, 5, 21.0, False),
    ],
)
def test_a_shift_is_seen_by_cycles_until_its_second_batch_is_measured_apart(
    rows: int, from_s: float, batches: int, after_s: float, sees: bool
) -> None:
    """Cycles come 1, 6, 11 and 16 s after that batch, which the reading of 108.5 is the first to have."""
    readings = [dataclasses.replace(one, batches=rows) for one in told(*READ)]
    shift = shift_seen(SHIFTED_S, seen_from(readings, from_s), 5.0)
    assert shift is not None
    assert (shift.batches, shift.after_s, shift.woken_after_s, shift.woken_sees) == (batches, after_s, 11.0, sees)


@pytest.mark.parametrize(("ended_s", "sees"), [(102.0, True), (104.0, False)])
def test_a_cycle_that_reads_by_itself_sees_what_has_ended(ended_s: float, sees: bool) -> None:
    shift = shift_seen(SHIFTED_S, seen_from(told((100.5, 100.0), (104.5, ended_s)), 104.5), None)
    assert shift is not None
    assert (shift.woken_after_s, shift.woken_sees) == (1.0, sees)


def test_a_shift_that_no_reading_shows_is_none() -> None:
    assert shift_seen([100.0, 102.0], told((99.0, 98.0), (103.0, 102.0)), 5.0) is None


def test_figures_of_no_reading_are_refused() -> None:
    with pytest.raises(ValueError, match="values: none given, one at least is needed"):
        spread([])


def test_a_line_has_all_jobs_together() -> None:
    ends_s = [2.0, 4.0, 6.0, 8.0, 10.0]
    watched = Watched(
        ends_s=ends_s,
        shifted_s=ends_s[3:],
        told=seen_from(told((1.0, 0.5), (5.0, 4.0), (11.0, 10.0)), 11.0),
        scraped=told((0.9, 0.5), (4.5, 4.0), (10.5, 10.0)),
        gap_s=5.0,
        reading_cpu_s=[0.01, 0.02],
    )
    blind = dataclasses.replace(watched, told=told((1.0, 0.5), (5.0, 4.0), (11.0, 10.0)))
    figures = figures_of([watched, blind])
    assert figures.delay_s == Spread(mean=2.6, p95=5.0, largest=5.0, count=10)
    assert figures.scrape_s is not None
    assert figures.scrape_s.mean == pytest.approx(2.1)
    assert (len(figures.shifts), figures.unseen) == (1, 1)
    lines = list(table({"Prometheus, 5 s": figures}))
    assert lines[2].startswith(
        "| Prometheus, 5 s | 2.60, 5.00, 5.00 | 2.10, 4.50, 4.50 | 0.50, 0.50, 0.50 | 1.00, 1.00, 1.00 | 2.00,"
    )
    assert lines[2].endswith("| 1 of 2 | 15.00, 20.00, 20.00 |")
    assert lines[-1] == "Prometheus, 5 s: 10 batches; shifts seen: 1, not seen: 1"


def test_a_course_shares_the_same_work_anew() -> None:
    quiet, anew = np.split(course(5, 4000.0, 4000.0).busy_s, [course(5, 4000.0, 4000.0).shifted])
    before, after = quiet.mean(axis=0), anew.mean(axis=0)
    assert after.sum() == pytest.approx(before.sum(), rel=0.02)
    assert np.maximum(after - before, 0.0).sum() / before.sum() == pytest.approx(SHIFTED, rel=0.05)
    assert before.size == GROUPS


def test_a_course_is_that_of_its_seed_and_ends_in_time() -> None:
    one, again, other = course(1, 60.0, 20.0), course(1, 60.0, 20.0), course(2, 60.0, 20.0)
    assert one.ends_s.tolist() == again.ends_s.tolist() != other.ends_s.tolist()
    gaps_s = np.diff(one.ends_s)
    assert (gaps_s >= SHORTEST_S).all()
    assert (gaps_s <= LONGEST_S).all()
    assert one.ends_s[one.shifted - 1] < 60.0 <= one.ends_s[one.shifted] <= one.ends_s[-1] <= 80.0
