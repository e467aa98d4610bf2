import dataclasses
import gc
import sys
import tracemalloc
from collections.abc import Callable, Mapping

import pytest
from fake_agent import FakeAgent
from hypothesis import given
from hypothesis import strategies as st

from streamjob_agent import metric_names as names
from streamjob_operator.measure import page as page_module
from streamjob_operator.measure.batches import series_of, totals_of
from streamjob_operator.measure.kept_pages import KeptPages
from streamjob_operator.measure.page import Page, make_page, parse_pages
from streamjob_operator.measure.query_pages import QueryPages
from streamjob_operator.measure.room import Room, bytes_of
from streamjob_operator.measure.thinning import LEAST_PAGES, thinned
from streamjob_operator.ports import Unavailable
from streamjob_operator.waking.rows import Rows

WINDOW_S = 100.0
Series = dict[str, Mapping[tuple[str, ...], float]]


def pages(count: int, seconds: float = 10.0) -> list[Page]:
    """Pages at batch ends, which share nothing."""
    found = []
    agent = FakeAgent()
    for number in range(count):
        agent.advance(1.0, 1.0, 1.0, 1.0)
        found += parse_pages(agent.page().encode(), number * seconds)
    return found


class Job:
    """What a room is shared by."""


def test_nothing_goes_while_there_is_room() -> None:
    some = pages(20)
    assert thinned(some, bytes_of(some), WINDOW_S) == tuple(some)


def test_what_is_older_than_a_whole_window_goes_first() -> None:
    some = pages(20)
    kept = thinned(some, bytes_of(some[8:]), WINDOW_S)
    assert [page.at_s for page in kept] == [page.at_s for page in some[8:]]


def test_then_pages_go_evenly_and_the_window_stays_as_long_as_asked() -> None:
    some = pages(20)
    kept = thinned(some, bytes_of(some[:6]), WINDOW_S)
    assert [page.at_s for page in kept] == [90.0, 110.0, 130.0, 150.0, 170.0, 190.0]


def one_by_one(some: list[Page], most_bytes: float, window_s: float) -> tuple[Page, ...]:
    """What `thinned` means, each time looking at all pages that are left."""
    kept = list(some)

    def gap_s(at: int) -> float:
        return kept[at + 1].at_s - kept[at - 1].at_s

    while len(kept) > LEAST_PAGES and bytes_of(kept) > most_bytes:
        begins_later = kept[1].at_s <= kept[-1].at_s - window_s
        kept.pop(0 if begins_later else min(range(1, len(kept) - 1), key=gap_s))
    return tuple(kept)


SOME = pages(24)


@given(
    gaps_s=st.lists(st.sampled_from([1.0, 2.0, 5.0, 40.0]), max_size=23),
    sharing=st.lists(st.booleans(), min_size=24, max_size=24),
    ratio=st.floats(0.0, 1.1),
    window_s=st.sampled_from([0.0, 3.0, 20.0, 100.0, 1000.0]),
)
def test_pages_go_as_if_all_that_are_left_were_looked_at_each_time(
    gaps_s: list[float], sharing: list[bool], ratio: float, window_s: float
) -> None:
    at_s, some = 0.0, [SOME[0]]
    for page, gap_s, shares in zip(SOME[1:], gaps_s, sharing, strict=False):
        at_s += gap_s
        later = dataclasses.replace(page, at_s=at_s)
        some.append(later.sharing(some[-1].group_ids) if shares else later)
    most_bytes = ratio * bytes_of(some)
    kept = thinned(some, most_bytes, window_s)
    assert [page.at_s for page in kept] == [page.at_s for page in one_by_one(some, most_bytes, window_s)]


def test_a_window_can_be_made_of_pages_however_large() -> None:
    assert len(thinned(pages(20), 0.0, WINDOW_S)) == LEAST_PAGES


def test_windows_of_the_fewest_pages_are_whole_ones_and_at_most_twice_as_long() -> None:
    query, lengths = QueryPages(3 * WINDOW_S + 60.0), []
    for page in pages(100):
        query.add(page)
        query.fit(0.0, WINDOW_S)
        if page.at_s > WINDOW_S + 10.0:
            first, last = query.ring.window(page.at_s, WINDOW_S)
            lengths.append(last.at_s - first.at_s)
    assert min(lengths) >= WINDOW_S
    assert max(lengths) <= 2 * WINDOW_S + 10.0


def test_ids_of_key_groups_are_kept_once() -> None:
    query = QueryPages(1000.0)
    for page in pages(10):
        query.add(page)
    assert len({id(page.group_ids) for page in query.ring.ends}) == 1
    assert query.size_bytes < bytes_of(pages(10))


def _of_groups() -> Series:
    groups = [("q", str(number // 500), str(number % 500)) for number in range(5_000)]
    return {names.GROUP_BUSY_SECONDS: dict.fromkeys(groups, 1.0), names.GROUP_EXECUTOR_ID: dict.fromkeys(groups, 1.0)}


def _of_traffic() -> Series:
    pairs = {("q", str(number // 500), "1", "1", str(number % 500)): float(number) for number in range(5_000)}
    return {names.GROUP_BUSY_SECONDS: {("q", "0", "0"): 1.0}, names.TRAFFIC_BYTES: pairs}


def _of_executors() -> Series:
    cores = {(str(number), f"10.0.{number}"): 4.0 for number in range(5_000)}
    return {names.GROUP_BUSY_SECONDS: {("q", "0", "0"): 1.0}, names.EXECUTOR_CORES: cores}


@pytest.mark.parametrize("series", [_of_groups, _of_traffic, _of_executors])
def test_a_page_counts_as_what_it_holds(series: Callable[[], Series], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "_known_group", page_module._known_group.__wrapped__)  # as if no other job had any
    """Numbers that occur twice are held once now and then, which is not counted."""

    def page() -> Page:
        return make_page({names.AGENT_INFO: {("a",): 1.0}, names.QUERY_INFO: {("q", "r"): 1.0}, **series()}, 0.0)

    page()
    tracemalloc.start()
    kept = page()
    counted = bytes_of([kept])
    gc.collect()
    # By what its end sets free, at once: other threads of the tests' process allocate, too.
    with_it, _ = tracemalloc.get_traced_memory()
    del kept
    without, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    held = with_it - without
    assert held <= counted <= 1.5 * held


def test_texts_that_an_agent_makes_long_count() -> None:
    (page,) = pages(1)
    long = dataclasses.replace(page, executors={("1" * 100_000, "host"): 4})
    assert bytes_of([long]) > bytes_of([page]) + 90_000


def test_a_job_may_take_what_is_left_and_gives_way_to_others() -> None:
    room, large, small = Room(1000), Job(), Job()
    assert room.allowed_bytes(large) == 1000
    room.take(large, 1000)
    assert room.allowed_bytes(small) == 500
    room.take(small, 100)
    assert room.allowed_bytes(large) == 900
    room.take(small, 500)
    assert room.allowed_bytes(large) == 500


def test_a_job_that_is_gone_leaves_its_room() -> None:
    room, one, other = Room(1000), Job(), Job()
    room.take(one, 1000)
    room.take(other, 10)
    del one
    gc.collect()
    assert room.allowed_bytes(other) == 1000


def test_what_is_kept_beside_pages_counts() -> None:
    room, kept, (first, *others) = Room(10**9), KeptPages, pages(3)
    alone, beside = (kept(WINDOW_S, room, together=True) for _ in range(2))
    for page in (first, *others):
        alone.add((page,), 0)
    held = 10**9 - room.allowed_bytes(Job())
    for page in (first, *others):
        beside.add((page,), 5_000)
    assert 10**9 - room.allowed_bytes(Job()) == 2 * held + 5_000


def test_traffic_that_was_read_counts() -> None:
    query = QueryPages(1000.0)
    for page in pages(3):
        query.add(page)
    before = query.size_bytes
    query.snapshot(FakeAgent(batches=3).status(), 30.0, 10.0)
    assert query.size_bytes == before + query._traffic.size_bytes > before


def test_a_page_that_would_take_more_than_a_quarter_of_the_room_is_refused() -> None:
    (page,) = pages(1)
    room = Room(4 * bytes_of([page]))
    kept = KeptPages(WINDOW_S, room, together=True)
    kept.add((page,), 0)
    long = dataclasses.replace(page, executors={**page.executors, ("7", "h"): 4})
    with pytest.raises(Unavailable, match=r"too large to be kept: .* a quarter of what all jobs"):
        kept.add((long,), 0)
    assert not kept.queries
    assert room.allowed_bytes(Job()) == room.most_bytes, "nothing is kept of a job that is refused"


def test_jobs_whose_fewest_pages_are_too_many_together_are_refused_and_smaller_ones_are_not() -> None:
    large, small = pages(2)
    large = dataclasses.replace(large, executors={("1", "h" * 30_000): 4})
    room = Room(4 * bytes_of([large]))
    jobs = [KeptPages(WINDOW_S, room, together=True) for _ in range(3)]
    for job in jobs[:2]:
        for at in range(6):
            seen = {**large.query, names.QUERY_BATCHES: float(at)}
            job.add((dataclasses.replace(large, at_s=at * WINDOW_S, query=seen),), 0)
    with pytest.raises(Unavailable, match=r"3 of them take .* twice as much as there should be"):
        jobs[2].add((large,), 0)
    jobs[2].add((small,), 0)
    assert len(jobs[2].queries) == 1
    del jobs[0], job
    gc.collect()
    jobs[1].add((large,), 0)


def test_rows_between_cycles_weigh_what_their_arrays_hold() -> None:
    some = pages(4)
    series = series_of([totals_of(page, some[0].group_ids) for page in some])
    assert series is not None
    assert series.owners is not None
    owners = ("1",) * 4
    rows = Rows(series=series, owners=owners, slots={})
    # Three rows of four key groups: seconds, records and owners, eight bytes each.
    assert rows.size_bytes == 3 * 4 * 3 * 8 + sys.getsizeof(owners)


def test_pages_of_all_jobs_share_the_ids_of_key_groups() -> None:
    one, other = (pages(1)[0] for _ in range(2))
    assert all(ours is theirs for ours, theirs in zip(one.group_ids, other.group_ids, strict=True))
