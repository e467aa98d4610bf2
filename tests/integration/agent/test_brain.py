"""Traffic between operators on real queries: the first spread follows it, plans are made with it. Idle ones rest."""

from __future__ import annotations

import itertools
import pathlib
import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pyspark.sql import functions as F

from streamjob_agent.spread import id_order
from streamjob_agent.wire import AgentStatus
from streamjob_operator.values import CycleRecord, Reason

pytestmark = pytest.mark.spark
PARTITIONS = 8
SHIFT = 3


class Letters:
    """Letters with a number and a town. All towns that the letters of one partition go to lie in one partition."""

    def __init__(self, folder: pathlib.Path, spark_hash: Any) -> None:
        self.input = folder / "letters"
        self.input.mkdir()
        self.hash = spark_hash
        self.towns = [list(itertools.islice(self.hash.keys_of(p, PARTITIONS), 8)) for p in range(PARTITIONS)]
        self.newest: dict[int, str] = {}
        self._chance = random.Random(5)
        self._numbers = itertools.count()
        self._files = itertools.count()

    def write(self, letters: int = 120) -> None:
        lines = []
        for number in itertools.islice(self._numbers, letters):
            towns = self.towns[(self.hash.partition_of(number, PARTITIONS) + SHIFT) % PARTITIONS]
            town, text = self._chance.choice(towns), self._chance.randbytes(1500).hex()
            self.newest[town] = max(self.newest.get(town, ""), text)
            lines.append(f"{number},{town},{text}\n")
        draft = self.input.with_name("draft")
        draft.write_text("".join(lines * 2))  # each letter twice, which the first operator finds out
        draft.rename(self.input / f"{next(self._files):05d}.csv")


def collocation(record: CycleRecord) -> float | None:
    plan = record.verdict.plan
    return None if plan is None else plan.before.collocation_factor


def deliver(session: Any, letters: Letters, sink: Any, checkpoint: pathlib.Path) -> Any:
    """The newest letter of each town: each key group of its first operator sends to one of the second."""
    reader = session.readStream.schema("number long, town long, text string")
    frame = reader.option("maxFilesPerTrigger", 1).csv(str(letters.input)).dropDuplicates(["number"])
    writer = frame.groupBy("town").agg(F.max("text").alias("text")).writeStream.outputMode("update").foreachBatch(sink)
    return writer.option("checkpointLocation", str(checkpoint)).start()


def owners_of(status: AgentStatus) -> dict[int, tuple[str, ...]]:
    (query,) = status.queries
    return {operator: tuple(str(owner) for owner in row) for operator, row in query.owners.items()}


def by_numbers(executors: set[str]) -> dict[int, tuple[str, ...]]:
    """The first spread, which knows no traffic: one key group after another, so that no pair is together."""
    names = sorted(executors, key=id_order)
    return {
        operator: tuple(names[(operator * PARTITIONS + p) % len(names)] for p in range(PARTITIONS))
        for operator in (0, 1)
    }


def together(owners: Mapping[int, tuple[str, ...]]) -> int:
    """Pairs of letters' key groups and their towns' that have one executor."""
    return sum(owners[0][(p + SHIFT) % PARTITIONS] == owners[1][p] for p in range(PARTITIONS)) if owners else 0


def test_the_first_spread_takes_pairs_apart_and_their_first_traffic_brings_them_together(
    spark_cluster: Any, tmp_path: pathlib.Path, collected: Any, install: Callable[[Any], Any], spark_hash: Any
) -> None:
    agent = install(spark_cluster.session)
    letters = Letters(tmp_path, spark_hash)
    query = deliver(spark_cluster.session, letters, collected, tmp_path / "checkpoint")

    def batch() -> None:
        letters.write()
        query.processAllAvailable()

    first = by_numbers(spark_cluster.executor_ids())
    counts = {operator: Counter(row) for operator, row in first.items()}
    most = sum(min(counts[0][name], counts[1][name]) for name in counts[0])
    assert (together(first), most) == (0, 7)

    batch()
    status = agent.until("pairs are together", lambda now: now.queries and together(owners_of(now)) == most, batch)
    found = owners_of(status)
    assert {operator: Counter(row) for operator, row in found.items()} == counts, "as even as before"
    assert found[1] == first[1], "who sends stays"
    assert {town: row[0] for town, row in collected.rows.items()} == letters.newest
    assert agent.failed_tasks() == 0


def test_traffic_between_operators_is_measured_planned_with_and_becomes_local(
    spark_cluster: Any,
    tmp_path: pathlib.Path,
    collected: Any,
    install: Callable[[Any], Any],
    brain: Any,
    spark_hash: Any,
) -> None:
    agent = install(spark_cluster.session)
    letters = Letters(tmp_path, spark_hash)
    query = deliver(spark_cluster.session, letters, collected, tmp_path / "checkpoint")

    def batch() -> None:
        letters.write()
        query.processAllAvailable()

    batch()
    agent.until("the first batch is seen", lambda now: now.queries and now.queries[0].batch_id == 0)
    agent.assign(query, owners=by_numbers(spark_cluster.executor_ids()))  # as they were before their first traffic
    controller = brain(
        agent, "{mode: Auto, planner: albic, objective: loadDistance, statisticsPeriod: 2s, maxLoadDistance: 200}"
    )
    record = controller.until("key groups move for the sake of traffic", acted_for_traffic, batch)
    before = collocation(record)
    assert record.snapshot is not None
    traffic = record.snapshot.traffic_bytes
    assert traffic is not None
    heavy = {
        (record.snapshot.group_ids[i], record.snapshot.group_ids[j]) for i, j in zip(*traffic.nonzero(), strict=True)
    }
    assert {(one.operator, other.operator) for one, other in heavy} == {(1, 0)}
    assert {(one.partition + SHIFT) % PARTITIONS == other.partition for one, other in heavy} == {True}
    assert len(heavy) == PARTITIONS

    record = controller.until("most of the traffic is local", lambda now: (collocation(now) or 0.0) >= 85.0, batch)
    assert before is not None
    assert before < 70.0
    assert {town: row[0] for town, row in collected.rows.items()} == letters.newest
    assert agent.failed_tasks() == 0


def acted_for_traffic(record: CycleRecord) -> bool:
    return record.verdict.act and record.verdict.reason is Reason.COLLOCATION


def live(status: AgentStatus) -> set[str]:
    return {one.executor_id for one in status.executors if one.state in ("ready", "draining")}


def test_an_idle_query_scales_in_without_a_batch_and_wakes_up_where_it_was_left(
    spark_cluster: Any, file_stream: Any, collected: Any, install: Callable[[Any], Any], brain: Any
) -> None:
    agent = install(spark_cluster.session)
    counts = file_stream.read().groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("total"))
    writer = counts.writeStream.outputMode("update").foreachBatch(collected)
    query = writer.option("checkpointLocation", file_stream.checkpoint).start()

    def batch() -> None:
        file_stream.write()
        query.processAllAvailable()

    controller = brain(
        agent, "{mode: Auto, planner: greedy, statisticsPeriod: 1s}", "{mode: Auto, stabilization: {up: 1h, down: 3s}}"
    )
    controller.until("a plan is made", lambda now: now.verdict.plan is not None, batch)
    batches = file_stream.files - 1  # numbered from 0, one for each file
    agent.until("the last batch is seen", lambda now: now.queries[0].batch_id == batches)
    idle = controller.until("it is idle and small", lambda now: len(live(agent.status())) == 2, lambda: None)
    assert idle.snapshot is not None
    assert idle.snapshot.rates.idle_since_s is not None
    reasons = {one.verdict.reason for one in controller.records}
    assert {Reason.SCALE_IN, Reason.EXECUTOR_REMOVED} & reasons == {Reason.SCALE_IN, Reason.EXECUTOR_REMOVED}, reasons
    assert controller.turn().verdict.reason is Reason.IDLE
    asleep = agent.status()
    assert asleep.queries[0].batch_id == batches  # nothing was needed for it
    assert {owner for row in asleep.queries[0].owners.values() for owner in row} <= live(asleep)

    batch()
    awake = agent.until("the batch is seen", lambda now: now.queries[0].batch_id != batches)
    assert awake.queries[0].owners == asleep.queries[0].owners
    waiting = controller.turn()  # one batch is no window: that before the rest is none either
    assert (waiting.verdict.act, waiting.verdict.reason) == (False, Reason.METRICS_UNAVAILABLE)
    assert collected.rows == file_stream.expected()
    assert agent.failed_tasks() == 0

    query.stop()
    over = controller.until("its end is seen", lambda now: now.verdict.reason is Reason.QUERY_ENDED, lambda: None)
    assert not over.verdict.act
