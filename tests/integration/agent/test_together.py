"""Two queries of one driver under one controller on real Spark: balanced together, and drained together.

They are balanced by assignments over HTTP, as the standalone controller does, and drained by a PartitionMap. And one
whose executor that is drained takes tasks from the others.
"""

from __future__ import annotations

import json
import pathlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from pyspark.sql import functions as F

from streamjob_agent import notebook
from streamjob_agent.kube.feed import Feed
from streamjob_agent.map_form import status_to_map
from streamjob_agent.map_plan import plan_to_spec
from streamjob_agent.wire import AgentStatus, Assignment
from streamjob_operator.kube.partition_map.actuator import MapActuator
from streamjob_operator.kube.partition_map.maps import Maps, MapView, view_of
from streamjob_operator.values import Reason

pytestmark = pytest.mark.spark
PARTITIONS = 8
HEAVY_MS, LIGHT_MS = 1500, 10


class Sleepy:
    """A query with one key per key group, whose task sleeps: a file has all keys, and is one batch."""

    def __init__(self, session: Any, folder: pathlib.Path, keys: list[int], sink: Any) -> None:
        self.heavy: list[int] = []
        self.files = 0
        self._input, self._keys = folder / "input", keys
        self._input.mkdir(parents=True)
        frame = session.readStream.schema("key long, ms long").option("maxFilesPerTrigger", 1).csv(str(self._input))
        counted = frame.groupBy("key").agg(F.count("*").alias("n"), F.last("ms").alias("ms"))
        worked = counted.select("key", "n", F.expr("reflect('java.lang.Thread', 'sleep', ms)").alias("slept"))
        self.write()
        writer = worked.writeStream.outputMode("update").foreachBatch(sink)
        self.query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()

    def write(self) -> None:
        lines = (f"{key},{HEAVY_MS if at in self.heavy else LIGHT_MS}\n" for at, key in enumerate(self._keys))
        draft = self._input.parent / "draft"
        draft.write_text("".join(lines))
        draft.rename(self._input / f"{self.files:05d}.csv")
        self.files += 1

    def owners(self, status: AgentStatus) -> tuple[str | None, ...]:
        found = next((one for one in status.queries if one.query_id == self.query.id), None)
        return found.owners.get(0, (None,)) if found else (None,)

    def ended(self, status: AgentStatus) -> bool:
        """Whether the batch of the newest file is told to have ended."""
        return any(one.query_id == self.query.id and one.batch_id == self.files - 1 for one in status.queries)

    def make_heavy(self, executor: str, status: AgentStatus) -> None:
        """All key groups of one executor, and no other."""
        self.heavy = [at for at, owner in enumerate(self.owners(status)) if owner == executor]

    def even(self, status: AgentStatus, executors: int) -> bool:
        """Whether the heavy key groups are spread as evenly as can be."""
        counts = Counter(self.owners(status)[at] for at in self.heavy)
        return max(counts.values()) <= -(-len(self.heavy) // executors)


class PaperMap:
    """A PartitionMap without an API server between the operator's actuator and the agent of this process."""

    def __init__(self) -> None:
        agent = notebook._installed[0]._agent
        assert agent is not None
        self._agent = agent
        self._feed = Feed(agent.submit, lambda _: None)
        self.spec: dict[str, Any] = {}

    def read(self) -> MapView:
        self._feed.again()
        status = json.loads(json.dumps(status_to_map(self._agent.status())))
        return view_of({"metadata": {"resourceVersion": "1"}, "spec": self.spec, "status": status})

    def write(self, plan: Sequence[Assignment], seen: MapView) -> None:
        self.spec = json.loads(json.dumps(plan_to_spec(plan)))
        self._feed.offer({"metadata": {"uid": "paper", "generation": plan[0].generation}, "spec": self.spec})


def live(status: AgentStatus) -> set[str]:
    return {one.executor_id for one in status.executors if one.state in ("ready", "draining")}


def test_two_queries_of_opposite_skew_are_balanced_together_and_leave_an_executor_together(
    spark_cluster: Any,
    tmp_path: pathlib.Path,
    install: Callable[[Any], Any],
    brain: Any,
    spark_hash: Any,
    two_sinks: Any,
) -> None:
    agent = install(spark_cluster.session)
    keys = [next(iter(spark_hash.keys_of(partition, PARTITIONS))) for partition in range(PARTITIONS)]
    sessions = (spark_cluster.session, spark_cluster.session.newSession())
    both = [
        Sleepy(session, tmp_path / str(at), keys, sink)
        for at, (session, sink) in enumerate(zip(sessions, two_sinks, strict=True))
    ]

    def batch() -> None:
        for one in both:
            one.write()
        for one in both:
            one.query.processAllAvailable()

    try:
        status = agent.until("both ran", lambda now: all(None not in one.owners(now) for one in both), batch)
        many = [executor for executor, count in Counter(both[0].owners(status)).items() if count == 3]
        for one, executor in zip(both, sorted(str(name) for name in many), strict=True):
            one.make_heavy(executor, status)
            assert len(one.heavy) == 3
        controller = brain(
            agent,
            "{mode: Auto, planner: greedy, statisticsPeriod: 3s, migrationBudget: {maxCost: 1h}}",
            "{mode: Auto, stabilization: {up: 1h, down: 1h}}",
        )
        record = controller.until(
            "both are balanced", lambda _: all(one.even(agent.status(), 3) for one in both), batch
        )
        assert record.snapshot is not None
        assert {part.query_id for part in record.snapshot.queries} == {one.query.id for one in both}
        acted = [one for one in controller.records if one.verdict.act]
        assert {one.verdict.reason for one in acted} <= {Reason.BATCH_TIME, Reason.LOAD_DISTANCE}

        written = PaperMap()
        controller.act_by(MapActuator(cast(Maps, written)))
        executors = controller.job.spec.executors.model_copy(update={"replicas": 2})
        spec = controller.job.spec.model_copy(update={"executors": executors})
        controller.job = controller.job.model_copy(update={"spec": spec})
        controller.until("one is drained of both, and gone", lambda _: len(live(agent.status())) == 2, batch)
        assert len(written.spec["otherQueries"]) == 1
        batch()
        status = agent.status()
        for one, sink in zip(both, two_sinks, strict=True):
            assert set(one.owners(status)) == live(status)
            assert one.even(status, 2)
            assert {key: row[0] for key, row in sink.rows.items()} == dict.fromkeys(keys, one.files)
        assert [one.moves_failed for one in status.queries] == [0, 0]
        assert agent.failed_tasks() == 0
    finally:
        for one in both:
            one.query.stop()


WAIT = "spark.locality.wait.process"


def test_an_executor_that_is_drained_and_steals_tasks_in_each_batch_goes(
    spark_cluster: Any, tmp_path: pathlib.Path, install: Callable[[Any], Any], spark_hash: Any, collected: Any
) -> None:
    """As where a job keeps a wait of its own that is shorter than its stages."""
    keys = [next(iter(spark_hash.keys_of(partition, PARTITIONS))) for partition in range(PARTITIONS)]
    spark = spark_cluster.session.sparkContext._jsc.sc()
    spark.conf().set(WAIT, "100ms")
    query = None
    try:
        agent = install(spark_cluster.session)
        one = Sleepy(spark_cluster.session, tmp_path, keys, collected)
        query = one.query

        def batch() -> None:
            one.write()
            one.query.processAllAvailable()

        status = agent.until("it ran", lambda now: None not in one.owners(now), batch)
        leaves, *stay = sorted(live(status))
        one.heavy = list(range(PARTITIONS))
        plan = {"owners": {0: tuple(stay[at % 2] for at in range(PARTITIONS))}, "marked_for_removal": (leaves,)}
        agent.assign(query, **plan)
        agent.until("it counts as empty", lambda now: held(now, leaves) == 0, batch)
        before = tasks_of(spark, leaves)
        batch()
        assert tasks_of(spark, leaves) > before, "it still steals"
        # A status of before the batch's end may say as much, and the look after it that the thief holds what it stole.
        seen = agent.until("the batch is seen", lambda now: one.ended(now) and held(now, leaves) == 0)
        assert one.owners(seen) == plan["owners"][0]
        agent.assign(query, **plan, remove=(leaves,))
        agent.until("it is gone", lambda now: live(now) == set(stay), batch)
        batch()
        assert {key: row[0] for key, row in collected.rows.items()} == dict.fromkeys(keys, one.files)
        assert agent.failed_tasks() == 0
    finally:
        if query is not None:
            query.stop()
        spark.conf().remove(WAIT)


def held(status: AgentStatus, executor: str) -> int:
    return next(one.groups for one in status.executors if one.executor_id == executor)


def tasks_of(spark: Any, executor: str) -> int:
    """Tasks that the executor has had of this driver."""
    summaries = spark.statusStore().executorList(False)
    found = (summaries.apply(at) for at in range(summaries.size()))
    return next(one.totalTasks() for one in found if one.id() == executor)


@pytest.fixture
def two_sinks(collected: Any) -> tuple[Any, Any]:
    return collected, type(collected)()
