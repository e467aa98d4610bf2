import dataclasses
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from fake_agent import FakeAgent, Server

from streamjob_agent import metric_names as names
from streamjob_operator.agent_http import metrics as metrics_module
from streamjob_operator.agent_http.client import AgentClient, fixed_address
from streamjob_operator.agent_http.metrics import FEW_PAGES, AgentMetrics
from streamjob_operator.measure.page import parse_pages
from streamjob_operator.measure.room import Room, bytes_of
from streamjob_operator.measure.thinning import LEAST_PAGES
from streamjob_operator.ports import Ended, Stale, Unavailable
from streamjob_operator.queries import MOST_QUERIES
from streamjob_operator.values import RunningBatch, Snapshot, StageView
from streamjob_planners.model import GroupId


class Bench:
    """A metrics source that is scraped by hand, on a clock that is set by hand."""

    def __init__(self, agent: FakeAgent, address: str) -> None:
        self.agent = agent
        self.now_s = 100.0
        self.metrics = AgentMetrics(AgentClient(fixed_address(address)), 10.0, clock=lambda: self.now_s)

    def batch(self, *busy_s: float, seconds: float = 5.0) -> None:
        self.now_s += seconds
        self.agent.advance(*(busy_s or (1.0, 1.0, 1.0, 1.0)))
        self.metrics.scrape()


@pytest.fixture
def bench() -> Iterator[Bench]:
    agent = FakeAgent()
    with Server(agent) as address:
        bench = Bench(agent, address)
        bench.metrics.scrape()
        yield bench


def test_a_window_holds_whole_batches_and_not_the_first(bench: Bench) -> None:
    bench.batch(50.0, 50.0, 50.0, 50.0)
    bench.batch(1.0, 2.0, 3.0, 4.0)
    bench.batch(1.0, 2.0, 3.0, 4.0)
    snapshot = bench.metrics.observe(bench.now_s + 1, 10.0)
    assert snapshot.busy_s.tolist() == [2.0, 4.0, 6.0, 8.0]
    assert (snapshot.window_s, snapshot.taken_at_s) == (10.0, bench.now_s)
    assert snapshot.owners == ("0", "0", "1", "1")
    assert snapshot.group_ids == tuple(GroupId(operator=0, partition=at) for at in range(4))
    assert [one.executor_id for one in snapshot.executors] == ["0", "1"]
    rates = snapshot.rates
    assert (rates.batches, rates.mean_batch_s, rates.input_rps, rates.trigger_interval_s) == (2, 1.0, 200.0, 2.0)
    assert rates.lag_rows is None
    assert snapshot.traffic_bytes is not None
    assert snapshot.traffic_bytes.toarray()[0, 3] == 200.0


def test_groups_that_stay_where_they_are_are_those_of_the_newest_page(bench: Bench) -> None:
    bench.batch()
    bench.batch()
    assert bench.metrics.observe(bench.now_s, 5.0).pinned == ()
    bench.agent.pinned = (3, 0)
    bench.batch()
    found = bench.metrics.observe(bench.now_s, 5.0).pinned
    assert found == tuple(GroupId(operator=0, partition=at) for at in (0, 3))


def test_memory_of_state_and_its_limit_are_those_of_the_query(bench: Bench) -> None:
    bench.batch()
    bench.batch()
    snapshot = bench.metrics.observe(bench.now_s, 5.0)
    assert snapshot.state_memory_bytes is None
    assert [one.state_limit_bytes for one in snapshot.executors] == [None, None]
    bench.agent.state_limit = 9000
    bench.batch()
    snapshot = bench.metrics.observe(bench.now_s, 5.0)
    assert snapshot.state_memory_bytes is not None
    assert snapshot.state_memory_bytes.tolist() == [500.0, 501.0, 502.0, 503.0]
    assert [one.state_limit_bytes for one in snapshot.executors] == [9000.0, None]


def test_an_executor_holds_as_many_key_groups_as_the_agent_says(bench: Bench) -> None:
    for _ in range(3):
        bench.batch()
    assert [one.groups for one in bench.metrics.observe(bench.now_s, 10.0).executors] == [2, 2]


def test_a_window_is_told_batch_by_batch(bench: Bench) -> None:
    bench.batch(50.0, 50.0, 50.0, 50.0)
    bench.batch(1.0, 2.0, 3.0, 4.0)
    bench.batch(4.0, 3.0, 2.0, 1.0, seconds=7.0)
    snapshot = bench.metrics.observe(bench.now_s + 1, 6.0)
    series = snapshot.series
    assert series is not None
    assert series.ended_at_s.tolist() == [bench.now_s - 7.0, bench.now_s]
    assert series.row_s.tolist() == [5.0, 7.0]
    assert series.batches.tolist() == [1, 1]
    assert series.batch_s.tolist() == [1.0, 1.0]
    assert series.busy_s.tolist() == [[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]]
    assert series.input_rows.tolist() == [1000.0, 1000.0]
    assert series.records.tolist() == (100 * series.busy_s).tolist()
    assert series.parts_s["queryPlanning"].tolist() == [0.25, 0.25]
    assert series.stages["operator-0"].wait_s.tolist() == [3.0, 3.0]
    assert snapshot.busy_s.tolist() == [4.0, 3.0, 2.0, 1.0], "the series tells what came before the window, too"


def test_what_a_move_cost_is_no_load(bench: Bench) -> None:
    bench.batch()
    bench.agent.warmup_s = [0.0, 0.5, 0.0, 0.0]
    bench.batch(1.0, 1.5, 1.0, 1.0)
    bench.batch()
    snapshot = bench.metrics.observe(bench.now_s, 10.0)
    assert snapshot.busy_s.tolist() == [2.0] * 4
    assert snapshot.warmup_s is not None
    assert snapshot.warmup_s.tolist() == [0.0, 0.5, 0.0, 0.0]


def test_stages_are_means_of_a_batch_and_groups_vary_around_their_own_mean(bench: Bench) -> None:
    for busy_s in ((50.0, 50.0, 50.0, 50.0), (1.0, 2.0, 3.0, 4.0), (2.0, 3.0, 4.0, 5.0), (3.0, 4.0, 5.0, 6.0)):
        bench.batch(*busy_s)
    source, counting = bench.metrics.observe(bench.now_s, 15.0).stages
    assert source == StageView(operator=None, level=0, wall_s=0.125, busy_s=0.25, longest_s=0.125, wait_s=3.0)
    assert (counting.operator, counting.level) == (0, 1)
    assert (counting.wall_s, counting.busy_s, counting.longest_s) == pytest.approx((7.0, 14.0, 7.0))
    assert counting.spread_s == pytest.approx(float(np.std([1.0, 2.0, 3.0], ddof=1)))


def test_one_batch_tells_no_spread(bench: Bench) -> None:
    bench.batch()
    bench.batch()
    assert [one.spread_s for one in bench.metrics.observe(bench.now_s, 1.0).stages] == [None, None]


def test_an_agent_that_tells_no_stages_is_believed_without(bench: Bench) -> None:
    bench.agent.tells_stages = False
    for _ in range(3):
        bench.batch()
    snapshot = bench.metrics.observe(bench.now_s, 10.0)
    assert (snapshot.stages, snapshot.traffic_sent_bytes) == ((), None)
    assert snapshot.warmup_s is not None
    assert snapshot.warmup_s.tolist() == [0.0] * 4


def test_all_that_a_group_sends_is_whole_and_kept_as_long_as_the_pairs(bench: Bench) -> None:
    for _ in range(3):
        bench.batch()
    bench.agent.reads_traffic = False
    measured = bench.metrics.observe(bench.now_s, 10.0).traffic_sent_bytes
    for _ in range(4):
        bench.batch()
    carried = bench.metrics.observe(bench.now_s, 10.0).traffic_sent_bytes
    assert measured is not None
    assert carried is not None
    assert measured.tolist() == carried.tolist() == [600.0, 0.0, 0.0, 0.0]


def traffic(snapshot: Snapshot) -> float | None:
    return None if snapshot.traffic_bytes is None else float(snapshot.traffic_bytes.toarray()[0, 3])


def test_traffic_is_known_in_windows_in_which_the_agent_does_not_read_it(bench: Bench) -> None:
    for _ in range(3):
        bench.batch()
    measured = bench.metrics.observe(bench.now_s, 10.0)
    bench.agent.reads_traffic = False
    for _ in range(4):
        bench.batch()
    carried = bench.metrics.observe(bench.now_s, 10.0)
    assert (traffic(measured), measured.traffic_read_at_s) == (200.0, measured.taken_at_s)
    assert (traffic(carried), carried.traffic_read_at_s) == (200.0, measured.taken_at_s)
    for _ in range(20):
        bench.batch()
    assert traffic(bench.metrics.observe(bench.now_s, 10.0)) is None  # more than ten windows old


def test_a_reading_that_stands_for_many_batches_is_not_the_traffic_of_one_window(bench: Bench) -> None:
    bench.agent.reads_traffic = False
    for _ in range(8):
        bench.batch()
    assert traffic(bench.metrics.observe(bench.now_s, 10.0)) is None  # nobody has read any yet
    bench.agent.reads_traffic = True
    bench.batch()
    assert traffic(bench.metrics.observe(bench.now_s, 10.0)) == 200.0


def test_only_the_newest_window_counts(bench: Bench) -> None:
    for _ in range(10):
        bench.batch(9.0, 9.0, 9.0, 9.0)
    bench.batch(1.0, 1.0, 1.0, 1.0)
    bench.batch(1.0, 1.0, 1.0, 1.0)
    assert bench.metrics.observe(bench.now_s, 10.0).busy_s.tolist() == [2.0] * 4


def test_an_idle_query_shows_no_load_of_long_ago(bench: Bench) -> None:
    bench.batch()
    bench.batch()
    bench.batch()
    bench.now_s += 100.0
    bench.metrics.scrape()
    snapshot = bench.metrics.observe(bench.now_s, 10.0)
    assert snapshot.rates.batches == 0
    assert snapshot.busy_s.tolist() == [0.0] * 4
    assert snapshot.traffic_bytes is None  # no batch, no traffic


def test_no_window_reaches_from_before_a_rest_to_batches_after_it(bench: Bench) -> None:
    for _ in range(3):
        bench.batch()
    bench.now_s += 100.0
    bench.agent.idle_since_s = bench.now_s - 100.0
    assert bench.metrics.observe(bench.now_s, 10.0).rates.idle_since_s == bench.now_s - 100.0
    bench.agent.idle_since_s = None
    bench.batch()
    with pytest.raises(Unavailable, match="two make a window"):
        bench.metrics.observe(bench.now_s, 10.0)
    bench.batch()
    snapshot = bench.metrics.observe(bench.now_s, 10.0)
    assert (snapshot.rates.batches, snapshot.rates.idle_since_s) == (1, None)
    assert snapshot.busy_s.tolist() == [1.0] * 4


def test_a_driver_without_a_query_any_more_says_so(bench: Bench) -> None:
    bench.batch()
    bench.agent.ended = True
    with pytest.raises(Ended, match="Every query of the driver has ended"):
        bench.metrics.observe(bench.now_s, 10.0)


def test_a_new_driver_starts_a_new_window(bench: Bench) -> None:
    bench.batch()
    bench.batch()
    bench.agent.application, bench.agent.run = "app-2", "run-2"
    bench.agent.busy_s, bench.agent.batches = [0.0] * 4, 0
    bench.batch()
    with pytest.raises(Unavailable, match="No batch has ended"):
        bench.metrics.observe(bench.now_s, 10.0)
    for _ in range(3):
        bench.batch()
    snapshot = bench.metrics.observe(bench.now_s, 10.0)
    assert snapshot.application_id == "app-2"
    assert snapshot.busy_s.tolist() == [2.0] * 4


def test_a_driver_that_changes_between_two_questions_is_stale(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        bench.batch()
    old = dataclasses.replace(bench.agent.status(), application_id="app-0")
    monkeypatch.setattr(bench.agent, "status", lambda: old)
    with pytest.raises(Stale, match="app-1 now"):
        bench.metrics.observe(bench.now_s, 10.0)


def test_an_owner_that_is_gone_is_nobody(bench: Bench) -> None:
    bench.agent.owners[0] = "7"
    for _ in range(3):
        bench.batch()
    assert bench.metrics.observe(bench.now_s, 10.0).owners == (None, "0", "1", "1")


def test_moves_and_actuation_come_from_the_status(bench: Bench) -> None:
    for _ in range(3):
        bench.batch()
    bench.agent.moves_pending, bench.agent.generation, bench.agent.actuation = 3, 7, "off"
    snapshot = bench.metrics.observe(bench.now_s, 10.0)
    assert (snapshot.moves_pending, snapshot.generation_applied) == (3, 7)
    assert (snapshot.actuation_on, snapshot.actuation_reason, snapshot.refused) == (False, "SelfTestFailed", False)


def test_that_the_newest_assignment_is_refused_comes_from_the_status(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        bench.batch()
    refuses = dataclasses.replace(bench.agent.status(), refused="HoldsGroups: why")
    monkeypatch.setattr(bench.agent, "status", lambda: refuses)
    assert bench.metrics.observe(bench.now_s, 10.0).refused


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        ({"garbage": b"\xff\xfe{{{ 1 2 3\n"}, "cannot be read"),
        ({"garbage": b""}, "cannot be read"),
        ({"cut": True}, "did not send its whole answer"),
        ({"status_code": 500}, "answered 500"),
        ({"busy_s": [], "owners": []}, "No streaming query with key groups"),
    ],
)
def test_a_page_that_is_broken_is_unavailable(trouble: dict[str, object], sentence: str) -> None:
    agent = FakeAgent(**trouble)  # type: ignore[arg-type]
    with Server(agent) as address:
        metrics = AgentMetrics(AgentClient(fixed_address(address)), 10.0, clock=lambda: 100.0)
        metrics.scrape()
        with pytest.raises(Unavailable, match=sentence):
            metrics.observe(100.0, 10.0)


def test_a_page_that_breaks_later_is_unavailable_and_not_half_believed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        bench.batch()
    whole = bench.agent.page()
    for page in (whole[: len(whole) // 2], ""):
        monkeypatch.setattr(bench.agent, "page", lambda page=page: page)
        bench.metrics.scrape()
        with pytest.raises(Unavailable, match=r"cannot be read|not whole"):
            bench.metrics.observe(bench.now_s, 10.0)
    assert bench.metrics.failed_scrapes == 2


def test_an_agent_that_is_not_there_is_unavailable() -> None:
    with Server(FakeAgent()) as address:
        gone = address
    metrics = AgentMetrics(AgentClient(fixed_address(gone), timeout_s=1.0), 10.0, clock=lambda: 100.0)
    metrics.scrape()
    with pytest.raises(Unavailable, match="does not answer"):
        metrics.observe(100.0, 10.0)


def test_the_thread_scrapes_and_ends() -> None:
    agent = FakeAgent()
    with Server(agent) as address:
        metrics = AgentMetrics(AgentClient(fixed_address(address)), 10.0)
        with metrics:
            for _ in range(200):
                if metrics.seen.status is not None:
                    break
                metrics._stop.wait(0.05)
        assert metrics.seen.status is not None
        assert not metrics._thread.is_alive()


def test_moves_that_the_status_calls_done_are_seen_in_the_owners(bench: Bench) -> None:
    for _ in range(3):
        bench.batch()
    bench.agent.owners = ["1", "0", "1", "1"]  # done since the last scrape, and the status knows
    assert bench.metrics.observe(bench.now_s, 10.0).owners == ("1", "0", "1", "1")


@pytest.mark.parametrize(("state", "owner"), [("ready", "1"), ("draining", "0")])
def test_what_an_executor_stole_that_is_drained_is_where_the_agent_says(bench: Bench, state: str, owner: str) -> None:
    bench.agent.spoiled = ('executor="1",state="ready"', f'executor="1",state="{state}"')
    bench.agent.told = ["0", "0", "0", "1"]
    for _ in range(3):
        bench.batch()
    assert bench.metrics.observe(bench.now_s, 10.0).owners == ("0", "0", owner, "1")


def test_what_is_seen_between_cycles_is_the_status_and_the_batches_so_far(bench: Bench) -> None:
    assert bench.metrics.seen.rows is None
    for _ in range(3):
        bench.batch()
    seen = bench.metrics.seen
    assert seen.status is not None
    assert seen.status.application_id == "app-1"
    assert seen.rows is not None
    assert (seen.rows.series.ended_at_s[-1], seen.rows.owners) == (bench.now_s, ("0", "0", "1", "1"))
    bench.metrics.scrape()
    assert bench.metrics.seen.rows is seen.rows, "nothing to look at anew before another batch has ended"
    bench.batch()
    assert bench.metrics.seen.rows is not seen.rows


@pytest.mark.parametrize(
    "spoiled",
    [
        ('partition="3"', 'partition="last"'),
        ('operator="0"', 'operator=""'),
        ('from_partition="0"', 'from_partition="none"'),
        (
            'executor_id{query="q",operator="0",partition="0"} 0',
            'executor_id{query="q",operator="0",partition="0"} NaN',
        ),
        ('host="h"} 2', 'host="h"} +Inf'),
        ('bytes{query="q",operator="0",partition="0"} 1000', 'bytes{query="q",operator="0",partition="0"} NaN'),
        # What is made by number must not fill the memory that other jobs share.
        ('partition="3"', 'partition="200000"'),
        ('operator="0"', 'operator="1000"'),
        ('host="h"} 2', 'host="h"} 1e12'),
        ('host="h"} 2', 'host="h"} 0'),
        ('bytes{query="q",operator="0",partition="0"} 1000', 'bytes{query="q",operator="0",partition="0"} 1e300'),
    ],
    ids=lambda spoiled: spoiled[1][-20:],
)
def test_a_page_that_says_what_cannot_be_is_missing_for_as_long_as_it_does(
    bench: Bench, spoiled: tuple[str, str]
) -> None:
    """And it neither ends the reading of later ones, nor is it repeated."""
    for _ in range(3):
        bench.batch()
    assert spoiled[0] in bench.agent.page()
    bench.agent.spoiled = spoiled
    bench.metrics.scrape()
    with pytest.raises(Unavailable, match="cannot be read") as caught:
        bench.metrics.observe(bench.now_s, 10.0)
    assert "last" not in str(caught.value)
    bench.agent.spoiled = None
    bench.batch()
    assert len(bench.metrics.observe(bench.now_s, 10.0).group_ids) == 4


def test_a_page_of_more_queries_than_are_planned_is_not_looked_through_for_each() -> None:
    lines = [f'{names.AGENT_INFO}{{application="app-1"}} 1']
    for at in range(MOST_QUERIES + 1):
        lines += [f'{names.QUERY_INFO}{{query="{at}",run="r"}} 1']
        lines += [f'{names.GROUP_BUSY_SECONDS}{{query="{at}",operator="0",partition="0"}} 1']
    with pytest.raises(Unavailable, match="65 streaming queries with key groups run in one driver"):
        parse_pages("\n".join(lines).encode() + b"\n", 1.0)


def test_no_accident_ends_the_reading(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    left, over = [KeyError("a mistake of ours"), Unavailable("down")], threading.Event()

    def page(_: int) -> bytes:
        if left:
            raise left.pop()
        over.set()
        return bench.agent.page().encode()

    monkeypatch.setattr(metrics_module, "SCRAPE_S", 0.01)
    client = AgentClient(fixed_address("127.0.0.1:1"))
    monkeypatch.setattr(client, "page", page)
    with AgentMetrics(client, 10.0) as metrics:
        assert over.wait(60.0)
    assert metrics.failed_scrapes >= 2


class Others:
    """What others keep in a room."""


OTHERS = Others()


def full_room(agent: FakeAgent) -> Room:
    """A room of a few pages, which others have all of."""
    room = Room(5 * bytes_of(parse_pages(agent.page().encode(), 1.0)))
    room.take(OTHERS, room.most_bytes)
    return room


def test_large_pages_keep_to_their_room_and_windows_stay_whole() -> None:
    agent, now = FakeAgent(), [100.0]
    with Server(agent) as address:
        client = AgentClient(fixed_address(address))
        alone = AgentMetrics(client, 20.0, clock=lambda: now[0])
        metrics = AgentMetrics(client, 20.0, clock=lambda: now[0], room=full_room(agent))
        for _ in range(30):
            now[0] += 5.0
            agent.advance(1.0, 1.0, 1.0, 1.0)
            metrics.scrape()
            alone.scrape()
        assert metrics.note == f"{FEW_PAGES}."
        assert alone.note is None
        snapshot = metrics.observe(now[0], 20.0)
        assert 20.0 <= snapshot.window_s <= 45.0
        assert snapshot.busy_s.tolist() == [snapshot.window_s / 5.0] * 4
        assert len(metrics._pages.queries["q"].ring.ends) == LEAST_PAGES


def test_that_pages_went_is_told_for_as_long_as_they_are_missed() -> None:
    agent, now = FakeAgent(), [100.0]
    room = full_room(agent)
    with Server(agent) as address:
        metrics = AgentMetrics(AgentClient(fixed_address(address)), 10.0, clock=lambda: now[0], room=room)
        for _ in range(5):
            now[0] += 5.0
            agent.advance(1.0, 1.0, 1.0, 1.0)
            metrics.scrape()
        assert metrics.note == f"{FEW_PAGES}."
        now[0] += 3 * 10.0 + 61.0
        assert metrics.note is None


def test_the_batch_that_runs_is_the_one_after_the_newest_that_ended(bench: Bench) -> None:
    bench.batch()
    bench.batch()
    assert bench.metrics.observe(bench.now_s, 10.0).rates.running is None
    bench.agent.running = (bench.now_s + 0.5, 700)
    bench.now_s += 1.0
    bench.metrics.scrape()
    rates = bench.metrics.observe(bench.now_s, 10.0).rates
    assert rates.running == RunningBatch(began_at_s=bench.now_s - 0.5, rows=700.0)
