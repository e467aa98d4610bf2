"""The page says what was measured, in the format Prometheus reads, and stays bounded."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator

import pytest
from fake_bridge import QUERY, FakeBridge
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from streamjob_agent import metric_names
from streamjob_agent.agent import Agent
from streamjob_agent.bridge import RunningBatch, Traffic
from streamjob_agent.config import AgentConfig
from streamjob_agent.exporter import Exporter, Facts, others
from streamjob_agent.group_series import groups
from streamjob_agent.textformat import render
from streamjob_agent.traffic import TrafficTable
from streamjob_agent.wire import GroupKey


def parsed(page: bytes) -> dict[str, list[tuple[str, dict[str, str], float]]]:
    return {
        family.name: [(sample.name, sample.labels, sample.value) for sample in family.samples]
        for family in text_string_to_metric_families(page.decode())
    }


def measured(batches: int = 3) -> Agent:
    bridge = FakeBridge()
    bridge.own_faults = {"progress": (2, "java.lang.Exception")}
    agent = Agent(bridge, AgentConfig())
    agent.prepare()
    agent.round()
    for _ in range(batches):
        bridge.run_batch()
        agent.round()
        agent._aside.wait(30.0)
    return agent


class Families(Collector):
    """The page's families, for prometheus_client's own writer."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def collect(self) -> Iterator[Metric]:
        yield from groups(self._facts.pages)
        yield from others(self._facts)


def test_page_equals_the_clients_own_writer() -> None:
    agent = measured()
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Families(agent.facts()))
    assert parsed(Exporter(agent.facts).page()) == parsed(generate_latest(registry))


def test_lines_of_key_groups_are_made_once_a_batch_and_are_never_older() -> None:
    agent = measured()
    exporter, seen = Exporter(agent.facts), []
    reading = agent._bridge.traffic(QUERY, 1, 10)
    changes: tuple[Callable[[], object], ...] = (
        lambda: None,
        lambda: agent.guard.report("here", ValueError("no")),
        agent.round,
        agent._bridge.run_batch,  # type: ignore[attr-defined]
        agent.round,
        lambda: agent._ledger.set_state_bytes(QUERY, {GroupKey(operator=0, partition=1): 77}),
        lambda: agent._ledger.take_traffic(QUERY, reading),
        lambda: agent._ledger.forget({QUERY}),
    )
    for change in changes:
        change()
        assert exporter.page() == Exporter(agent.facts).page()
        seen.append(exporter._groups[1])
    made = [one is not before for before, one in itertools.pairwise(seen)]
    assert made == [False, False, False, True, True, True, True]


@settings(deadline=None)  # a busy machine is no fault
@given(st.text(max_size=20), st.floats(allow_nan=False, allow_infinity=False))
def test_any_label_and_number_come_back(label: str, value: float) -> None:
    family = GaugeMetricFamily("some_gauge", 'a "text" \\ here', labels=("name",))
    family.add_metric([label], value)
    counter = CounterMetricFamily("some_total", "text", value=1)
    assert parsed(render([family, counter])) == {
        "some_gauge": [("some_gauge", {"name": label}, value)],
        "some": [("some_total", {}, 1.0)],
    }


def test_counters_add_up_and_gauges_are_the_newest() -> None:
    page = parsed(Exporter(measured(3).facts).page())
    labels = {"query": QUERY, "operator": "0", "partition": "0"}
    expected = {
        metric_names.GROUP_BUSY_SECONDS: 0.3,
        metric_names.GROUP_CPU_SECONDS: 0.15,
        metric_names.GROUP_RECORDS: 15.0,
        metric_names.GROUP_LOCAL_BYTES: 21.0,
        metric_names.GROUP_REMOTE_BYTES: 27.0,
        metric_names.GROUP_STATE_ROWS: 3.0,
        metric_names.GROUP_STATE_BYTES: 1000.0,
        metric_names.GROUP_STATE_MEMORY: 500.0,
        metric_names.GROUP_EXECUTOR_ID: 0.0,
    }
    for name, value in expected.items():
        found = [sample[2] for sample in page[name.removesuffix("_total")] if sample[1] == labels]
        assert found == [value] or abs(found[0] - value) < 1e-9, name


def test_stages_parts_variation_traffic_and_memory_are_told() -> None:
    page = parsed(Exporter(measured(3).facts).page())

    def value(name: str, **labels: str) -> float:
        (found,) = [
            number for _, has, number in page[name.removesuffix("_total")] if labels.items() <= has.items()
        ]  # fmt: skip
        return found

    assert value(metric_names.STAGE_WALL_SECONDS, stage="operator-1") == pytest.approx(0.9)
    assert value(metric_names.STAGE_LEVEL, stage="operator-0") == 2.0
    assert value(metric_names.STAGE_BUSY_SECONDS, stage="free-0.0") == pytest.approx(0.6)
    assert value(metric_names.STAGE_WAIT_SECONDS, stage="operator-1") == pytest.approx(0.6)
    assert value(metric_names.STAGE_WAIT_SECONDS, stage="free-0.0") == 0.0
    assert value(metric_names.GROUP_GC_SECONDS, operator="0", partition="0") == pytest.approx(0.03)
    assert value(metric_names.GROUP_FETCH_SECONDS, operator="0", partition="0") == pytest.approx(0.06)
    assert value(metric_names.OPERATOR_SQUARED_SECONDS, operator="0") == pytest.approx(3 * 6 * 0.01)
    assert value(metric_names.PART_SECONDS, part="addBatch") == pytest.approx(2.1)
    assert value(metric_names.QUERY_STATE_MEMORY_BYTES) == 4096.0
    assert value(metric_names.GROUP_SENT_BYTES, operator="1", partition="2") == 6002.0
    assert value(metric_names.GROUP_PARTNERS, operator="1", partition="2") == 6.0
    assert value(metric_names.EXECUTOR_MEMORY_USED, executor="1") == 1001.0
    assert value(metric_names.EXECUTOR_MEMORY_LIMIT, executor="1") == 2000.0
    assert value(metric_names.EXECUTOR_STATE_LIMIT, executor="1", query=QUERY) == 9000.0


def test_groups_that_stay_are_told() -> None:
    agent = measured()
    facts = agent.facts()
    (query,) = facts.queries
    assert parsed(Exporter(lambda: facts).page())["streamjob_keygroup_pinned"] == []
    pinned = dataclasses.replace(query, pinned=frozenset({GroupKey(operator=0, partition=0)}))
    page = Exporter(lambda: dataclasses.replace(facts, queries=(pinned,))).page()
    ((_, labels, value),) = parsed(page)["streamjob_keygroup_pinned"]
    assert (labels, value) == ({"query": query.query_id, "operator": "0", "partition": "0"}, 1.0)


def test_errors_inside_the_bridge_are_shown_too() -> None:
    agent = measured()
    assert agent.facts().errors["bridge_progress"] == 2
    assert agent.status().message == "newest error: java.lang.Exception"
    assert agent.status().errors_total == 2


def pair(number: int, size: int) -> Traffic:
    return Traffic(
        from_key=GroupKey(operator=1, partition=number),
        to_key=GroupKey(operator=0, partition=number),
        size_bytes=size,
    )


def test_traffic_series_are_bounded_and_the_heaviest() -> None:
    table = TrafficTable(min_bytes=100, max_pairs=3)
    table.take([pair(number, 100 * number) for number in range(10)], batches=1)
    assert sorted(source.partition for source, _ in table.totals()) == [7, 8, 9]


def test_traffic_counts_every_batch_since_the_last_reading() -> None:
    table = TrafficTable(min_bytes=100, max_pairs=3)
    table.take([pair(0, 500)], batches=1)
    table.take([pair(0, 500)], batches=4)
    assert list(table.totals().values()) == [2500]


def test_traffic_around_the_threshold_or_of_equals_does_not_flap() -> None:
    table = TrafficTable(min_bytes=100, max_pairs=2)
    table.take([pair(0, 110), pair(1, 120)], batches=1)
    before = table.totals().keys()
    for turn in range(10):
        table.take([pair(0, 90 + turn % 2 * 20), pair(1, 110), pair(2, 150)], batches=1)
        assert table.totals().keys() == before


def test_traffic_that_has_ended_makes_room_and_a_much_heavier_pair_takes_its_place_at_once() -> None:
    table = TrafficTable(min_bytes=100, max_pairs=1)
    table.take([pair(0, 110)], batches=1)
    table.take([pair(0, 110), pair(1, 10_000)], batches=1)
    assert [source.partition for source, _ in table.totals()] == [1]
    for _ in range(20):
        table.take([], batches=1)
    assert table.totals() == {}


def test_rows_of_the_batch_that_runs_are_there_until_it_ends() -> None:
    bridge = FakeBridge()
    agent = Agent(bridge, AgentConfig())
    agent.prepare()
    bridge.run_batch()
    agent.round()
    rows, since = metric_names.QUERY_RUNNING_ROWS, metric_names.QUERY_RUNNING_SINCE
    assert not parsed(Exporter(agent.facts).page())[rows]
    bridge.begin_batch(RunningBatch(batch_id=1, began_at_s=1700000000.5, rows=340))
    agent.round()
    page = parsed(Exporter(agent.facts).page())
    assert page[rows] == [(rows, {"query": bridge.query_id}, 340.0)]
    assert page[since] == [(since, {"query": bridge.query_id}, 1700000000.5)]
    bridge.run_batch()
    agent.round()
    page = parsed(Exporter(agent.facts).page())
    assert not page[rows]
    assert not page[since]
