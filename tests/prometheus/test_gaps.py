"""Series that are missing, wrong clocks, several targets, and pages that are too big."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.cluster.prometheus import Prometheus, static_target
from e2e.simulated.scripted_agent import Pages, ScriptedAgent
from scraped_driver import Bench

from streamjob_agent import metric_names as names
from streamjob_operator.kube.metrics import pages as prometheus_pages
from streamjob_operator.kube.metrics import target as prometheus_target
from streamjob_operator.kube.metrics.http import Settings
from streamjob_operator.kube.metrics.prometheus import PrometheusMetrics
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.measure.page import GROUP_COUNTERS
from streamjob_operator.ports import Incomplete, Stale, Unavailable


def without(bench: Bench, pattern: str) -> None:
    """What relabelling does that drops series."""
    dropped = re.compile(pattern)

    def page() -> bytes:
        lines = bench.agent.page().decode().splitlines(keepends=True)
        return "".join(line for line in lines if not dropped.match(line)).encode()

    bench.show(page)


def incomplete(bench: Bench, sentence: str) -> None:
    with pytest.raises(Incomplete, match=sentence):
        bench.observe()
    assert bench.metrics.trouble is not None
    assert bench.metrics.trouble.reason == KubeReason.SERIES_MISSING


def test_a_kind_of_series_that_is_dropped_is_named(bench: Bench) -> None:
    without(bench, names.GROUP_CPU_SECONDS)
    bench.run(1.0, 1.0, 1.0, 1.0)
    incomplete(bench, f"has no {names.GROUP_CPU_SECONDS} of query query-1; .*relabelling")


def test_without_the_batches_there_is_no_window(bench: Bench) -> None:
    without(bench, names.QUERY_BATCHES)
    bench.run(1.0, 1.0, 1.0, 1.0)
    incomplete(bench, f"has no {names.QUERY_BATCHES}")


def test_key_groups_that_are_missing_are_counted(bench: Bench) -> None:
    without(bench, r'.*partition="3"')
    bench.run(1.0, 1.0, 1.0, 1.0)
    incomplete(bench, "3 of 4 key groups")


def test_series_that_come_back_are_no_sudden_load(bench: Bench) -> None:
    """What a group did before its series came back must not count as done within the window."""
    without(bench, r'.*partition="3"')
    bench.run(100.0, 100.0, 100.0, 100.0)
    bench.show_agent()
    bench.batches(1, 1.0, 1.0, 1.0, 1.0)
    incomplete(bench, "1 of 4 key groups have no series at the beginning")
    bench.run(1.0, 1.0, 1.0, 1.0)
    snapshot = bench.observe()
    assert snapshot.busy_s.tolist() == pytest.approx([float(snapshot.rates.batches)] * 4)


def test_a_query_without_key_groups_is_said(bench: Bench) -> None:
    bench.agent.owners = []
    with pytest.raises(Unavailable, match="No streaming query with key groups runs yet"):
        bench.observe()


@pytest.mark.parametrize("ahead_s", [-3600.0, 90.0, 3600.0])
def test_a_wrong_clock_of_the_operator_changes_nothing(bench: Bench, ahead_s: float) -> None:
    metrics = PrometheusMetrics(lambda: bench.settings, bench.status, "test", clock=lambda: time.time() + ahead_s)
    bench.run(1.0, 1.0, 1.0, 1.0)
    now_s = time.time() + ahead_s
    snapshot = metrics.observe(now_s, bench.window_s)
    assert metrics.skew_s == pytest.approx(-ahead_s, abs=2.0)
    assert now_s - snapshot.taken_at_s < 10.0
    assert snapshot.busy_s.tolist() == pytest.approx([float(snapshot.rates.batches)] * 4)


def test_a_page_with_too_many_samples_is_not_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.run(1.0, 1.0, 1.0, 1.0)
    monkeypatch.setattr(prometheus_pages, "MOST_SAMPLES", 10)
    with pytest.raises(Unavailable, match=r"gives Prometheus \d+ samples, 10 can be read"):
        bench.observe()


def test_a_large_page_is_read_in_parts(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that one of which an answer of all would be too long is read; here answers come in turn, too."""
    bench.run(1.0, 2.0, 3.0, 4.0)
    at_once = bench.observe()
    taken = list[str]()

    @contextlib.contextmanager
    def turn() -> Iterator[None]:
        taken.append("turn")
        yield

    monkeypatch.setattr(ReadingLimits, "one_query_groups", 3)
    limits = ReadingLimits(large_bytes=100)
    metrics = PrometheusMetrics(lambda: bench.settings, bench.status, "test", limits=limits, turn=turn)
    in_parts = metrics.observe(time.time(), bench.window_s)
    assert len(taken) > len(GROUP_COUNTERS)
    assert (in_parts.busy_s / in_parts.rates.batches).tolist() == (at_once.busy_s / at_once.rates.batches).tolist()
    assert in_parts.state_bytes.tolist() == at_once.state_bytes.tolist()


def test_one_target_of_two_is_read_when_a_driver_is_scraped_twice(
    prometheus_program: Path, pages: Pages, bench: Bench, tmp_path: Path
) -> None:
    """A PodMonitor and a ServiceMonitor for the same pod, say."""
    targets = [
        {**static_target(pages.address, job, pod="driver"), "metrics_path": f"/{bench.slot}"}
        for job in ("by-pod", "by-service")
    ]
    with Prometheus(tmp_path, prometheus_program, targets) as server:
        bench.read_from(server, "by-.*", len(targets))
        bench.run(1.0, 1.0, 1.0, 1.0)
        snapshot = bench.observe()
        assert len(server.query(f'{names.AGENT_INFO}{{job=~"by-.*"}}')) == 2
    assert snapshot.busy_s.tolist() == pytest.approx([float(snapshot.rates.batches)] * 4)
    assert len(snapshot.group_ids) == 4


def test_prometheus_that_went_away_and_came_back(
    prometheus_program: Path, pages: Pages, bench: Bench, tmp_path: Path
) -> None:
    target = {**static_target(pages.address, pod="driver"), "metrics_path": f"/{bench.slot}"}
    with Prometheus(tmp_path, prometheus_program, [target]) as server:
        metrics = PrometheusMetrics(lambda: Settings(url=server.url), bench.status, "test")

        def observed() -> bool:
            bench.batches(1, 1.0, 1.0, 1.0, 1.0)
            try:
                snapshot = metrics.observe(time.time(), bench.window_s)
            except (Unavailable, Stale, Incomplete):
                return False
            return bool(snapshot.busy_s.tolist() == pytest.approx([float(snapshot.rates.batches)] * 4))

        assert any(observed() for _ in range(100))
        server.process.kill()
        with pytest.raises(Unavailable, match="does not answer") as caught:
            metrics.observe(time.time(), bench.window_s)
        assert caught.value.code == KubeReason.PROMETHEUS_UNAVAILABLE
        server.start()
        assert any(observed() for _ in range(100))


def test_names_of_people_and_machines_do_no_harm_in_a_query() -> None:
    agent = ScriptedAgent('a"} or vector(1) #\\')
    target = prometheus_target.Target(application_id=agent.application, labels={"pod": 'x"y\\z'})
    assert target.selector("up") == '{up,pod="x\\"y\\\\z"}'
    assert prometheus_target.quoted(agent.application) == '"a\\"} or vector(1) #\\\\"'
