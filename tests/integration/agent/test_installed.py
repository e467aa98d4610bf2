"""The agent installed from a notebook: queries that run already, several of them, several sessions."""

from __future__ import annotations

import collections
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pyspark.sql import functions as F

from streamjob_agent import notebook
from streamjob_agent.spark import connect
from streamjob_agent.wire import AgentStatus, QueryStatus

pytestmark = pytest.mark.spark


def counts(stream: Any, sink: Any) -> Any:
    frame = stream.read().groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("total"))
    writer = frame.writeStream.outputMode("update").foreachBatch(sink)
    return writer.option("checkpointLocation", stream.checkpoint).start()


def sizes(row: tuple[str | None, ...]) -> list[int]:
    return sorted(collections.Counter(row).values())


def state_of(status: AgentStatus, query: Any) -> QueryStatus | None:
    return next((one for one in status.queries if one.query_id == query.id), None)


def owners(status: AgentStatus, query: Any) -> tuple[str | None, ...]:
    """Of the query's only operator; nobody before its first batch."""
    found = state_of(status, query)
    return found.owners.get(0, (None,)) if found else (None,)


def located(session: Any, query: Any, partitions: int) -> tuple[str | None, ...]:
    """Where Spark itself has the stores of operator 0 open."""
    jvm = session.sparkContext._jvm
    state = jvm.org.apache.spark.sql.execution.streaming.state
    coordinator = session._jsparkSession.sessionState().streamingQueryManager().stateStoreCoordinator()
    root = query._jsq.streamingQuery().resolvedCheckpointRoot() + "/state"
    ids = [
        state.StateStoreProviderId(state.StateStoreId(root, 0, partition, "default"), query._jsq.runId())
        for partition in range(partitions)
    ]
    places = [coordinator.getLocation(one) for one in ids]
    return tuple(place.get().rsplit("_", 1)[1] if place.isDefined() else None for place in places)


def on_three(status: AgentStatus) -> Mapping[str, str]:
    return {one.executor_id: one.state for one in status.executors if one.state != "dead"}


def test_queries_that_run_already_keep_their_placement_until_told(
    spark_cluster: Any, file_stream: Any, collected: Any, install: Callable[[Any], Any]
) -> None:
    file_stream.write(files=2)
    query = counts(file_stream, collected)
    query.processAllAvailable()
    before = located(spark_cluster.session, query, 8)
    assert None not in before

    agent = install(spark_cluster.session)
    file_stream.write()
    query.processAllAvailable()
    status = agent.until("the owners are known", lambda now: None not in owners(now, query))
    assert (status.actuation, owners(status, query)) == ("on", before)

    ring = sorted(on_three(status))
    wanted = tuple(ring[partition % 3] for partition in range(8))
    agent.assign(query, owners={0: wanted})
    file_stream.write(files=2)
    query.processAllAvailable()
    status = agent.until("every move was obeyed", lambda now: owners(now, query) == wanted)
    assert state_of(status, query).moves_failed == 0
    assert collected.rows == file_stream.expected()


def test_two_queries_of_two_sessions_have_a_plan_each_and_leave_an_executor_together(
    spark_cluster: Any, two_streams: Any, install: Callable[[Any], Any]
) -> None:
    (one, kept), (other, others) = two_streams
    agent = install(spark_cluster.session)
    other.session = spark_cluster.session.newSession()
    one.write()
    other.write(keys=20)
    first, second = counts(one, kept), counts(other, others)
    both = (first, second)

    def batch() -> None:
        one.write()
        other.write(keys=20)
        for query in both:
            query.processAllAvailable()

    batch()
    status = agent.until("both ran", lambda now: all(None not in owners(now, query) for query in both))
    assert [sizes(owners(status, query)) for query in both] == [[2, 3, 3], [2, 3, 3]]  # even from the first batch on

    stay_a, stay_b, leaves = sorted(on_three(status))
    before = owners(status, second)
    wanted = (stay_a, stay_a, stay_b, stay_b) * 2
    agent.assign(first, owners={0: wanted}, marked_for_removal=(leaves,), executors_target=2)
    status = agent.until("both have left it", lambda now: leaves not in owners(now, second) + owners(now, first), batch)
    assert owners(status, first) == wanted
    after = owners(status, second)
    assert all(now == then for now, then in zip(after, before, strict=True) if then != leaves)
    assert sizes(after) == [4, 4]

    agent.assign(first, marked_for_removal=(leaves,), remove=(leaves,), executors_target=2)
    agent.until("it is gone", lambda now: set(on_three(now)) == {stay_a, stay_b}, batch)

    turned = tuple(stay_b if owner == stay_a else stay_a for owner in after)
    agent.assign(second, owners={0: turned}, executors_target=3)
    status = agent.until("the second query's plan", lambda now: owners(now, second) == turned, batch)
    assert owners(status, first) == wanted
    spark_cluster.wait_for_executors(3)
    assert kept.rows == one.expected()
    assert others.rows == other.expected()
    assert agent.failed_tasks() == 0


def listeners(session: Any) -> int:
    return int(session.sparkContext._jsc.sc().listenerBus().listeners().size())


def test_sessions_that_a_job_makes_in_each_batch_leave_nothing_behind(
    spark_cluster: Any, file_stream: Any, collected: Any, install: Callable[[Any], Any]
) -> None:
    agent = install(spark_cluster.session)
    collected.before_collect = lambda _: spark_cluster.session.newSession()
    file_stream.write()
    query = counts(file_stream, collected)
    query.processAllAvailable()
    before = listeners(spark_cluster.session)
    file_stream.write(files=3)
    query.processAllAvailable()
    agent.until("the batches are seen", lambda now: (getattr(state_of(now, query), "batch_id", 0) or 0) >= 3)
    assert listeners(spark_cluster.session) == before
    assert agent.sessions() == 1
    assert collected.rows == file_stream.expected()


def test_an_executor_that_comes_in_the_first_batch_moves_nothing(
    spark_cluster: Any, file_stream: Any, collected: Any, install: Callable[[Any], Any]
) -> None:
    agent = install(spark_cluster.session)
    leaves = max(on_three(agent.until("three", lambda now: len(on_three(now)) == 3)), key=int)
    bridge = notebook._installed[0]._agent._bridge
    bridge.decommission(leaves)
    spark_cluster.wait_for_executors(2)

    def another_one(_: int) -> None:
        collected.before_collect = None
        bridge.request_executors(3)
        spark_cluster.wait_for_executors(3)
        agent.until("the agent sees it", lambda now: len({*on_three(now)} - {leaves}) == 3)
        time.sleep(1.0)  # some rounds of the agent

    collected.before_collect = another_one
    file_stream.write(files=2)
    query = counts(file_stream, collected)
    query.processAllAvailable()
    status = agent.until("the owners are known", lambda now: None not in owners(now, query))
    assert sizes(owners(status, query)) == [4, 4]
    assert collected.rows == file_stream.expected()


KEY = "spark.locality.wait.process"


def test_a_wait_that_the_job_has_set_is_its_own(spark_cluster: Any, file_stream: Any, collected: Any) -> None:
    conf = spark_cluster.session.sparkContext._jsc.sc().conf()
    conf.set(KEY, "1s")
    bridge = connect(spark_cluster.session)
    try:
        assert bridge.self_test()["locality_wait"].startswith(f"ok, but {KEY}=1s")
        assert not bridge.set_locality_wait(20.0)
        file_stream.write()
        counts(file_stream, collected).processAllAvailable()
        assert conf.get(KEY) == "1s"
    finally:
        bridge.close()
        assert conf.get(KEY) == "1s"
        conf.remove(KEY)


def test_a_query_that_waits_for_its_first_data_when_the_agent_comes_is_placed_before_each_later_batch(
    spark_cluster: Any, file_stream: Any, collected: Any, install: Callable[[Any], Any]
) -> None:
    query = counts(file_stream, collected)
    agent = install(spark_cluster.session)
    agent.until("the query is known", lambda now: state_of(now, query) is not None)
    file_stream.write()
    query.processAllAvailable()
    agent.until("its owners are known", lambda now: None not in owners(now, query))

    before = agent.boundaries()
    file_stream.write(files=3)
    query.processAllAvailable()
    assert agent.boundaries() - before == 3
    assert collected.rows == file_stream.expected()
