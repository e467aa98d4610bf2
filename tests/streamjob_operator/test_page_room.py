import dataclasses
import gc
import tracemalloc
from collections.abc import Callable, Mapping

import pytest
from fake_agent import FakeAgent

from streamjob_agent import metric_names as names
from streamjob_operator.measure.page import Page, make_page, parse_pages
from streamjob_operator.measure.query_pages import QueryPages
from streamjob_operator.measure.room import LEAST_PAGES, Room, bytes_of, thinned

WINDOW_S = 100.0
Series = dict[str, Mapping[tuple[str, ...], float]]


def pages(count: int, seconds: float = 10.0) -> list[Page]:
    """Pages at batch ends, which share nothing."""
    found = []
    agent = FakeAgent()
    for number in range(count):
        agent.advance(1.0, 1.0, 1.0, 1.0)
        found += parse_pages(agent.page(), number * seconds)
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
def test_a_page_counts_as_what_it_holds(series: Callable[[], Series]) -> None:
    """Numbers that occur twice are held once now and then, which is not counted."""

    def page() -> Page:
        return make_page({names.AGENT_INFO: {("a",): 1.0}, names.QUERY_INFO: {("q", "r"): 1.0}, **series()}, 0.0)

    page()
    gc.collect()
    tracemalloc.start()
    kept = page()
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held <= bytes_of([kept]) <= 1.5 * held


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
