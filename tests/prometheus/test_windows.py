"""From scrapes to a snapshot: whole batches, what restarts do, and what nobody may act on."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
import pytest
from scraped_driver import Bench

from streamjob_agent.wire import GroupKey
from streamjob_operator.kube.metrics.http import Connection
from streamjob_operator.kube.metrics.prometheus import PrometheusMetrics
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.ports import Incomplete, Stale, Unavailable
from streamjob_planners.model import GroupId


def test_a_window_of_whole_batches(bench: Bench) -> None:
    bench.agent.pinned = frozenset({GroupKey(operator=0, partition=2)})
    bench.run(1.0, 2.0, 3.0, 4.0)
    bench.agent.batch(1.0, 2.0, 3.0, 4.0, count=2)  # so that a window has two, however slow scrapes are
    bench.scraped()
    snapshot = bench.observe()
    assert snapshot.pinned == (GroupId(operator=0, partition=2),)
    batches = snapshot.rates.batches
    assert batches >= 2
    assert snapshot.busy_s.tolist() == pytest.approx([batches * one for one in (1.0, 2.0, 3.0, 4.0)])
    assert snapshot.cpu_s.tolist() == pytest.approx([batches * one / 2 for one in (1.0, 2.0, 3.0, 4.0)])
    assert snapshot.records.tolist() == pytest.approx([batches * 100 * one for one in (1, 2, 3, 4)])
    assert snapshot.state_bytes.tolist() == [1000, 1001, 1002, 1003]
    assert snapshot.group_ids == tuple(GroupId(operator=0, partition=at) for at in range(4))
    assert snapshot.owners == ("0", "0", "1", "1")
    assert snapshot.traffic_bytes is not None
    assert snapshot.traffic_bytes.toarray()[0, 1] == 10 * batches
    assert [(one.executor_id, one.host, one.cores) for one in snapshot.executors] == [("0", "h0", 2), ("1", "h1", 2)]
    assert [one.busy_s for one in snapshot.executors] == pytest.approx([3.0 * batches, 7.0 * batches])
    assert [(one.memory_used_bytes, one.memory_limit_bytes) for one in snapshot.executors] == [
        (700, 1000),
        (None, None),
    ]
    assert [one.state_limit_bytes for one in snapshot.executors] == [5000, None]
    assert snapshot.state_memory_bytes is not None
    assert snapshot.state_memory_bytes.tolist() == [2000, 2001, 2002, 2003]
    rates = snapshot.rates
    assert (rates.mean_batch_s, rates.trigger_interval_s, rates.lag_rows) == (0.5, 0.5, 7.0)
    assert rates.input_rps == pytest.approx(1000 * batches / snapshot.window_s)
    assert rates.other_busy_s == pytest.approx(0.25 * batches)
    source, counting = snapshot.stages
    assert (source.operator, source.level, source.wall_s, source.busy_s) == (None, 0, 0.125, 0.25)
    assert (counting.operator, counting.level, counting.wall_s, counting.longest_s) == (0, 1, 0.25, 4.0)
    assert counting.spread_s == pytest.approx(0.0, abs=1e-6)
    assert snapshot.traffic_sent_bytes is not None
    assert snapshot.traffic_sent_bytes.tolist() == [25.0 * batches, 0.0, 0.0, 0.0]
    assert snapshot.warmup_s is not None
    assert snapshot.warmup_s.tolist() == [0.0] * 4
    assert snapshot.window_s >= bench.window_s - 0.001  # scrapes are stamped in milliseconds
    series = snapshot.series
    assert series is not None
    assert series.trouble(4) is None
    assert series.batches.sum() >= batches
    assert series.ended_at_s[-1] == pytest.approx(snapshot.taken_at_s)
    assert series.row_s.sum() >= snapshot.window_s - 0.001
    assert series.busy_s / series.batches[:, None] == pytest.approx(
        np.tile([1.0, 2.0, 3.0, 4.0], (len(series.batches), 1))
    )
    assert series.batch_s.tolist() == pytest.approx((0.5 * series.batches).tolist())
    assert series.input_rows.tolist() == (1000 * series.batches).tolist()
    assert series.records == pytest.approx(100 * series.busy_s)
    assert series.moved.sum() == series.executors_changed.sum() == 0
    assert series.parts_s["queryPlanning"].tolist() == pytest.approx((0.125 * series.batches).tolist())
    assert sorted(series.stages) == ["free-0.0", "operator-0"]
    assert series.stages["operator-0"].wait_s.tolist() == pytest.approx((0.5 * series.batches).tolist())
    assert bench.metrics.trouble is None


def test_a_window_that_begins_where_the_last_one_ended_reads_that_page_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.window_s = 2.0  # the series goes back to three batches, however slow scrapes are
    bench.run(1.0, 2.0, 3.0, 4.0)
    before = bench.observe()
    time.sleep(bench.window_s)
    bench.batches(1, 4.0, 3.0, 2.0, 1.0)
    asked: list[str] = []
    query = Connection.query

    def counted(connection: Connection, expression: str, at_s: float | None = None) -> list[dict[str, Any]]:
        asked.append(expression)
        return query(connection, expression, at_s)

    monkeypatch.setattr(Connection, "query", counted)
    after = bench.observe()
    pages = [one for one in asked if one.startswith("max by")]
    assert len(pages) == 1
    assert len(asked) == 4, "the time, the scrapes, a page, rows: the target is known"
    assert after.window_s == pytest.approx(
        after.taken_at_s - before.taken_at_s, abs=0.1
    )  # the clocks' difference varies
    assert after.busy_s.tolist() == pytest.approx([4.0, 3.0, 2.0, 1.0])
    fresh = PrometheusMetrics(lambda: bench.settings, bench.status, "test")
    alone = fresh.observe(time.time(), bench.window_s)
    assert after.busy_s.tolist() == alone.busy_s.tolist()
    assert after.records.tolist() == alone.records.tolist()
    assert after.window_s == pytest.approx(alone.window_s)
    assert after.executors == alone.executors


def test_a_target_that_is_known_by_other_labels_is_looked_for_again(bench: Bench) -> None:
    bench.run(1.0, 2.0, 3.0, 4.0)
    before = bench.observe()
    target = bench.metrics._target
    assert target is not None
    bench.metrics._target = dataclasses.replace(target, labels={**target.labels, "pod": "as-it-was-called"})
    bench.batches(1, 1.0, 2.0, 3.0, 4.0)
    assert bench.observe().taken_at_s >= before.taken_at_s
    assert bench.metrics._target == target


def test_moves_executors_and_actuation_come_from_the_status_which_is_newer(bench: Bench) -> None:
    bench.run(1.0, 1.0, 1.0, 1.0)
    bench.agent.owners = ["1", "7", "1", "1"]  # seen by no scrape yet: moved, and lost with its executor
    bench.agent.moves_pending, bench.agent.generation, bench.agent.actuation = 3, 5, "off"
    bench.agent.states["1"] = "draining"
    snapshot = bench.observe()
    assert snapshot.owners == ("1", None, "1", "1")
    assert (snapshot.moves_pending, snapshot.generation_applied, snapshot.actuation_on) == (3, 5, False)
    assert [one.state for one in snapshot.executors] == ["ready", "draining"]


def test_a_new_driver_on_the_old_address_begins_anew(bench: Bench) -> None:
    bench.run(50.0, 50.0, 50.0, 50.0)
    bench.agent = type(bench.agent)(f"{bench.agent.application}-again", run="run-2")
    bench.scraped()
    with pytest.raises((Unavailable, Incomplete)):  # no window of this driver yet
        bench.observe()
    bench.run(1.0, 1.0, 1.0, 1.0)
    snapshot = bench.observe()
    assert snapshot.application_id.endswith("-again")
    assert snapshot.busy_s.tolist() == pytest.approx([float(snapshot.rates.batches)] * 4)


def test_counters_that_start_again_are_no_negative_load(bench: Bench) -> None:
    bench.run(50.0, 50.0, 50.0, 50.0)
    fresh = type(bench.agent)(bench.agent.application)  # same application and run, counters at zero
    fresh.batches = bench.agent.batches
    bench.agent = fresh
    bench.batches(2, 1.0, 2.0, 3.0, 4.0)
    snapshot = bench.observe()
    batches = snapshot.rates.batches  # those since then
    assert batches == 2
    assert snapshot.busy_s.tolist() == pytest.approx([batches * one for one in (1.0, 2.0, 3.0, 4.0)])
    assert [one.busy_s for one in snapshot.executors] == pytest.approx([3.0 * batches, 7.0 * batches])


def test_a_query_that_was_started_again_begins_anew(bench: Bench) -> None:
    bench.run(50.0, 50.0, 50.0, 50.0)
    bench.agent.run = "run-2"
    bench.scraped()
    with pytest.raises(Unavailable, match="No batch has ended"):
        bench.observe()
    bench.run(1.0, 1.0, 1.0, 1.0)
    snapshot = bench.observe()
    assert snapshot.run_id == "run-2"
    assert snapshot.busy_s.tolist() == pytest.approx([float(snapshot.rates.batches)] * 4)


def test_an_unknown_application_is_said_with_those_that_are_known(bench: Bench) -> None:
    bench.run(1.0, 1.0, 1.0, 1.0)
    known = bench.agent
    bench.show(known.page)  # scraped still, while another driver is asked for
    bench.agent = type(known)("app-elsewhere")
    bench.agent.batches = 1
    with pytest.raises(Unavailable, match="app-elsewhere") as caught:
        bench.metrics.observe(time.time(), 1.0)
    assert known.application in str(caught.value)
    assert bench.metrics.trouble is not None
    assert bench.metrics.trouble.reason == KubeReason.TARGET_MISSING


def test_scrapes_that_fail_are_stale_data_with_the_time(bench: Bench) -> None:
    bench.run(1.0, 1.0, 1.0, 1.0)
    bench.show(lambda: None)
    bench.failed(8)
    with pytest.raises(Stale, match=r"has not scraped the agent at driver-\d+ for .*: its scrapes fail") as caught:
        bench.observe()
    assert caught.value.code == KubeReason.TARGET_MISSING
    first = bench.metrics.trouble
    with pytest.raises(Stale):
        bench.observe()
    assert first is not None
    assert bench.metrics.trouble is not None
    assert bench.metrics.trouble.since_s == first.since_s
    bench.show_agent()
    bench.batches(2, 1.0, 1.0, 1.0, 1.0)
    bench.observe()
    assert bench.metrics.trouble is None


def test_one_scrape_that_fails_is_nothing(bench: Bench) -> None:
    bench.run(1.0, 1.0, 1.0, 1.0)
    bench.show(lambda: None)
    bench.failed()
    bench.show_agent()
    bench.batches(2, 1.0, 1.0, 1.0, 1.0)
    snapshot = bench.observe()
    assert snapshot.busy_s.tolist() == pytest.approx([float(snapshot.rates.batches)] * 4)


def test_a_page_that_is_cut_off_is_not_half_believed(bench: Bench) -> None:
    bench.run(1.0, 1.0, 1.0, 1.0)
    bench.show(lambda: bench.agent.page()[:700])
    bench.failed()
    bench.show_agent()
    bench.batches(2, 1.0, 1.0, 1.0, 1.0)
    snapshot = bench.observe()
    assert len(snapshot.group_ids) == 4
    assert snapshot.busy_s.tolist() == pytest.approx([float(snapshot.rates.batches)] * 4)


def test_the_same_application_told_of_from_another_namespace_is_not_believed(bench: Bench) -> None:
    """Any pod that is scraped may say whose metrics it has."""
    bench.run(1.0, 1.0, 1.0, 1.0)
    stranger = PrometheusMetrics(lambda: bench.settings, bench.status, "somebody-elses")
    with pytest.raises(Unavailable, match="has had no streamjob_agent_info of application"):
        stranger.observe(time.time(), 10.0)


def test_queries_of_one_driver_are_one_snapshot_each_over_its_own_batches(bench: Bench) -> None:
    bench.agent.beside["query-2"] = ["1", "0"]

    def both() -> float:
        bench.agent.batch_beside("query-2", 5.0, 0.5)
        return bench.batches(1, 1.0, 2.0, 3.0, 4.0)

    both()
    begun_s = both()  # windows begin at the second end or later
    while both() - begun_s < bench.window_s + 0.6:
        pass
    snapshot = bench.observe()
    assert [(one.query_id, one.first_operator, one.operators) for one in snapshot.queries] == [
        ("query-1", 0, 1),
        ("query-2", 1, 1),
    ]
    assert snapshot.owners == ("0", "0", "1", "1", "1", "0")
    batches = snapshot.rates.batches
    assert snapshot.busy_s[:4].tolist() == pytest.approx([batches * one for one in (1.0, 2.0, 3.0, 4.0)])
    assert snapshot.busy_s[4] == pytest.approx(10 * snapshot.busy_s[5])
    assert not snapshot.unmeasured
    assert snapshot.series is not None


def test_a_query_that_has_just_begun_is_not_measured_and_holds_what_it_holds(bench: Bench) -> None:
    bench.run(1.0, 2.0, 3.0, 4.0)
    bench.agent.beside["query-2"] = ["1", "1"]
    snapshot = bench.observe()  # the agent has told of it, no scrape has
    assert snapshot.unmeasured == {"query-2": ("1",)}
    assert len(snapshot.group_ids) == 4
    assert bench.metrics.trouble is None
