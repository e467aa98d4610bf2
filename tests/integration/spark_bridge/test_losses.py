"""Executors that die or leave, and a probe whose own parts fail: the job goes on and stays exact."""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from inside import field, swap
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark


def start_counts(stream: Any, sink: Any) -> Any:
    counts = stream.read().groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("total"))
    writer = counts.writeStream.outputMode("update").foreachBatch(sink)
    return writer.option("checkpointLocation", stream.checkpoint).start()


def test_a_killed_executor_loses_its_groups_at_once(watch: Any, file_stream: Any, collected: Any) -> None:
    file_stream.write()
    query = start_counts(file_stream, collected)
    seen = watch.run(query)
    assert watch.given.pop(query.id) == seen
    victim = watch.executors()[0].executor_id
    guarded = watch.bridge.diagnostics()[1]["guarded"]
    watch.cluster.kill(victim)
    watch.cluster.wait_until(lambda: watch.bridge.diagnostics()[1]["guarded"] > guarded, "the guard")
    assert victim not in {executor.executor_id for executor in watch.executors()}

    file_stream.write()
    after = watch.run(query)
    assert victim not in after.values()
    assert {key: owner for key, owner in after.items() if seen[key] != victim} == {
        key: owner for key, owner in seen.items() if owner != victim
    }
    assert watch.given[query.id] == {key: owner for key, owner in after.items() if seen[key] == victim}
    counts = collections.Counter(after.values())
    assert max(counts.values()) - min(counts.values()) <= 3
    assert collected.rows == file_stream.expected()


@pytest.mark.parametrize("ends", ["killed", "sent away"])
def test_a_batch_goes_on_at_once_when_an_executor_goes_that_has_tasks_left(
    watch: Any, file_stream: Any, collected: Any, tmp_path: pathlib.Path, ends: str
) -> None:
    """Spark has tasks wait for an executor of theirs that is gone, here an hour, as none comes in its place."""
    cluster, context = watch.cluster, watch.cluster.session.sparkContext
    file_stream.write()
    query = start_counts(file_stream, Held(collected, tmp_path))
    seen = watch.run(query)
    watch.bridge.set_locality_wait(3600.0)
    try:
        (tmp_path / "hold").touch()
        file_stream.write()
        cluster.wait_until(lambda: len(list(tmp_path.glob("task-*"))) == 3, "the first task on each executor")
        context._jsc.sc().requestTotalExecutors(2, 0, context._jvm.PythonUtils.toScalaMap({}))
        victim = next(one for one in seen.values() if one != _has_shuffle_files(context))
        if ends == "killed":
            cluster.kill(victim)
            cluster.wait_until(lambda: victim not in cluster.executor_ids(), "Spark knows")
        else:
            _send_away(context, victim)
            assert victim in {one.executor_id for one in watch.executors() if one.leaving}
        (tmp_path / "hold").unlink()
        cluster.wait_until(lambda: collected.batches[-1] == 1, "the end of the batch")
        after = watch.finish(query)
    finally:
        watch.bridge.set_locality_wait(30.0)
    assert victim not in after.values()
    assert collected.rows == file_stream.expected()


def _has_shuffle_files(context: Any) -> str:
    """The executor that the one task of the source ran on: without it the stage that reads them begins anew."""
    context._jsc.sc().listenerBus().waitUntilEmpty(60_000)
    (stage,) = context.statusTracker().getActiveStageIds()
    return str(context._jsc.sc().statusStore().taskList(stage - 1, 0, 1).apply(0).executorId())


class Held:
    """A sink whose tasks tell of themselves and stay while they are held."""

    def __init__(self, sink: Any, folder: pathlib.Path) -> None:
        self._sink, self._folder = sink, folder

    def __call__(self, frame: Any, batch: int) -> None:
        frame.rdd.mapPartitionsWithIndex(holding(str(self._folder))).count()
        self._sink(frame, batch)


def holding(folder: str) -> Callable[[int, Any], Any]:
    """For executors, which do not know this module."""

    def hold(partition: int, rows: Any) -> Any:
        yield from rows
        if os.path.exists(f"{folder}/hold"):
            open(f"{folder}/task-{partition}", "w").close()
        until = time.monotonic() + 120.0
        while time.monotonic() < until and os.path.exists(f"{folder}/hold"):
            time.sleep(0.02)

    return hold


def test_decommission_in_the_middle_of_a_batch_fails_no_task(watch: Any, file_stream: Any, collected: Any) -> None:
    file_stream.write()
    query = start_counts(file_stream, collected)
    watch.run(query)
    leaving = watch.executors()[-1]
    staying = [executor for executor in watch.executors() if executor != leaving]

    def leave(_: int) -> None:
        collected.before_collect = None
        watch.bridge.mark([leaving.executor_id])
        watch.bridge.decommission(leaving.executor_id)

    collected.before_collect = leave
    file_stream.write()
    during = watch.run(query)
    file_stream.write()
    after = watch.run(query)
    assert set(after.values()) <= {executor.executor_id for executor in staying}
    assert len(during) == len(after) == 8
    watch.cluster.wait_until(lambda: leaving.executor_id not in watch.cluster.executor_ids(), "it is gone")
    assert watch.failed_tasks == 0
    assert collected.rows == file_stream.expected()


SLEEPS = "java_method('java.lang.Thread', 'sleep', 150L + 0L * n) IS NOT NULL"
"""True of every row, after a while: tasks of the second stage come one after another, and fetch as they begin."""


def test_an_executor_leaves_after_the_batch_that_needs_its_shuffle_files(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    counts = file_stream.read().repartition(6).groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("total"))
    writer = counts.where(SLEEPS).writeStream.outputMode("update").foreachBatch(collected)
    file_stream.write()
    query = writer.option("checkpointLocation", file_stream.checkpoint).start()
    seen = watch.run(query)
    staying, leaving = watch.executors()[:2], watch.executors()[2].executor_id
    watch.move_all(query, {key: staying[at % 2] for at, key in enumerate(sorted(seen))})
    file_stream.write()
    assert leaving not in watch.run(query).values()

    file_stream.write()
    watch.cluster.wait_until(lambda: _late(watch.cluster), "the stage that fetches")
    watch.bridge.mark([leaving])
    watch.bridge.decommission(leaving)
    assert leaving not in watch.run(query).values()
    watch.cluster.wait_until(lambda: leaving not in watch.cluster.executor_ids(), "it is gone")
    assert watch.failed_tasks == 0
    assert collected.rows == file_stream.expected()


def _late(cluster: Any) -> bool:
    """Whether the job is at a stage that others come before: of those that run, none has the job's lowest number."""
    tracker = cluster.session.sparkContext.statusTracker()
    jobs = (tracker.getJobInfo(job) for job in tracker.getActiveJobsIds())
    begun = [min(job.stageIds) + 1 for job in jobs if job and len(job.stageIds) > 2]
    return any(stage > first for first in begun for stage in tracker.getActiveStageIds())


@dataclasses.dataclass
class Waiting:
    """A task on every executor, which ends once it is told to."""

    job: threading.Thread
    told: pathlib.Path

    def end(self) -> None:
        """Tell them, and wait for the last one."""
        self.told.touch()
        self.job.join()


@pytest.fixture
def waiting(spark_cluster: Any, tmp_path: pathlib.Path) -> Iterator[Waiting]:
    context = spark_cluster.session.sparkContext
    told = str(tmp_path / "told")

    def wait(_: int) -> None:
        for _ in range(1200):
            if os.path.exists(told):
                return
            time.sleep(0.1)

    job = threading.Thread(target=lambda: context.parallelize(range(3), 3).foreach(wait))
    waiting = Waiting(job, tmp_path / "told")
    waiting.job.start()
    spark_cluster.wait_until(lambda: _running(context) == 3, "three tasks that run")
    yield waiting
    waiting.end()


def _threads(watch: Any) -> list[str]:
    jvm = watch.cluster.session.sparkContext._jvm
    return [str(thread.getName()) for thread in jvm.java.lang.Thread.getAllStackTraces().keySet()]


def _running(context: Any) -> int:
    stages = (context.statusTracker().getStageInfo(stage) for stage in context.statusTracker().getActiveStageIds())
    return sum(stage.numActiveTasks for stage in stages if stage)


@pytest.fixture
def no_decommissioning(spark_cluster: Any) -> Iterator[None]:
    """As with Spark's default: executors do not know how to leave."""
    conf = spark_cluster.session.sparkContext._jsc.sc().conf()
    conf.set("spark.decommission.enabled", "false")
    yield
    conf.set("spark.decommission.enabled", "true")


def test_without_decommissioning_an_executor_leaves_once_it_runs_no_task(
    watch: Any, file_stream: Any, collected: Any, no_decommissioning: None, request: pytest.FixtureRequest
) -> None:
    file_stream.write()
    query = start_counts(file_stream, collected)
    watch.run(query)
    leaving = watch.executors()[-1].executor_id
    waiting = request.getfixturevalue("waiting")
    watch.bridge.decommission(leaving)
    time.sleep(0.5)  # looked at several times meanwhile
    assert leaving in watch.cluster.executor_ids()
    assert _threads(watch).count("streamjob-removal") == 1
    waiting.end()
    file_stream.write()
    assert leaving not in watch.run(query).values()
    watch.cluster.wait_until(lambda: leaving not in watch.cluster.executor_ids(), "it is gone")
    watch.cluster.wait_until(lambda: "streamjob-removal" not in _threads(watch), "nobody waits for it any more")
    assert watch.failed_tasks == 0
    assert collected.rows == file_stream.expected()


def test_an_executor_that_somebody_else_sends_away_is_told_at_once_and_gives_its_groups_away(
    watch: Any, file_stream: Any, collected: Any, request: pytest.FixtureRequest
) -> None:
    """As a node's graceful end does it, or anybody with a hold of the driver: nobody tells listeners of it."""
    file_stream.write()
    query = start_counts(file_stream, collected)
    seen = watch.run(query)
    watch.given.clear()
    waiting = request.getfixturevalue("waiting")  # it stays while its task runs
    leaving = watch.executors()[-1].executor_id
    _send_away(watch.cluster.session.sparkContext, leaving)
    assert [one.executor_id for one in watch.executors() if one.leaving] == [leaving]
    watch.drain()
    given = watch.given[query.id]
    assert given.keys() == {key for key, owner in seen.items() if owner == leaving}
    assert leaving not in given.values()
    waiting.end()
    file_stream.write()
    assert leaving not in watch.run(query).values()
    watch.cluster.wait_until(lambda: leaving not in watch.cluster.executor_ids(), "it is gone")
    assert watch.failed_tasks == 0
    assert collected.rows == file_stream.expected()
    watch.bridge.request_executors(3)
    watch.cluster.wait_for_executors(3)


def _send_away(context: Any, executor: str) -> None:
    jvm, spark = context._jvm, context._jsc.sc()
    why = jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo("its node goes", jvm.scala.Option.empty())
    assert spark.schedulerBackend().decommissionExecutor(executor, why, True, False)


def test_an_executor_that_spark_excludes_is_not_waited_for_and_gives_its_groups_away(tmp_path: pathlib.Path) -> None:
    """With spark.excludeOnFailure it lives and is offered no task, for an hour: here the wait for it is as long."""
    subprocess.run([sys.executable, pathlib.Path(__file__).with_name("excluded.py"), tmp_path], check=True, timeout=300)
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["before"] == ["0", "1"]
    (excluded,) = found["excluded"]
    assert found["after"] == [one for one in found["before"] if one != excluded]
    assert found["shut_at_last"] == []
    assert found["rows"] == found["expected"]
    assert found["faults"] == []


def test_marked_executors_get_no_group_at_the_start(watch: Any, file_stream: Any, collected: Any) -> None:
    marked = watch.executors()[0].executor_id
    watch.bridge.mark([marked])
    file_stream.write()
    seen = watch.run(start_counts(file_stream, collected))
    watch.bridge.mark([])
    assert sorted(collections.Counter(seen.values()).values()) == [4, 4]
    assert marked not in seen.values()


def test_waiting_for_a_boundary(watch: Any, file_stream: Any, collected: Any) -> None:
    """A wait ends early when there is something to see, as it is after each batch: only True tells of a boundary."""

    def a_boundary_came() -> bool:
        return watch.bridge.wait_for_boundary(5.0)

    file_stream.write()
    query = start_counts(file_stream, collected)
    watch.cluster.wait_until(a_boundary_came, "the first batch has ended")
    watch.run(query)
    while watch.bridge.wait_for_boundary(0.2):
        pass
    assert not watch.bridge.wait_for_boundary(0.6)
    file_stream.write()
    watch.cluster.wait_until(a_boundary_came, "the second batch has ended")


def test_somebody_else_ends_a_wait(watch: Any) -> None:
    watch.bridge.look()
    while watch.bridge.wait_for_boundary(0.2):
        pass
    waiting = threading.Thread(target=watch.bridge.wait_for_boundary, args=(600.0,), daemon=True)
    waiting.start()
    watch.bridge.wake()
    waiting.join(60)
    assert not waiting.is_alive()


def test_a_wait_tells_of_what_a_look_would_find_and_of_nothing_else(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    def changed() -> bool:
        while watch.bridge.wait_for_boundary(0.05):
            pass
        return bool(watch.bridge.changed())

    watch.bridge.look()
    watch.drain()
    assert not changed()
    file_stream.write()
    query = start_counts(file_stream, collected)
    watch.run(query)
    assert changed(), "a query has come"
    assert changed(), "nobody has looked"
    query.stop()
    watch.bridge.look()
    watch.drain()
    assert not changed()
    leaving = watch.executors()[-1].executor_id
    watch.bridge.decommission(leaving)
    watch.cluster.wait_until(changed, "an executor has gone")
    watch.bridge.look()
    watch.bridge.request_executors(3)
    watch.cluster.wait_for_executors(3)
    watch.cluster.wait_until(changed, "an executor has come")


def test_no_fault_of_the_probe_reaches_the_job(watch: Any, file_stream: Any, collected: Any) -> None:
    probe = watch.bridge._probe
    parts = {"hook": ("registry",), "core": ("fleet", "registrar", "plans", "meter"), "listener": ("binder", "wait")}
    broken = [(field(probe, part), name) for part, names in parts.items() for name in names]
    whole = [swap(target, name, None) for target, name in broken]
    try:
        file_stream.write(files=2)
        start_counts(file_stream, collected).processAllAvailable()
    finally:
        for (target, name), value in zip(broken, whole, strict=True):
            swap(target, name, value)
    assert collected.rows == file_stream.expected()
    faults, _ = watch.bridge.diagnostics()
    assert {"hook", "start", "plan", "stage", "task"} <= set(faults)


def test_off_means_no_registration_and_closed_means_no_trace(watch: Any, file_stream: Any, collected: Any) -> None:
    watch.bridge.set_actuation(False)
    before = watch.bridge.diagnostics()[1]["registered"]
    file_stream.write()
    query = start_counts(file_stream, collected)
    seen = watch.run(query)
    watch.bridge.place(query.id, dict.fromkeys(seen, watch.executors()[0]))
    assert watch.bridge.diagnostics()[1]["registered"] == before
    watch.bridge.close()
    session = watch.cluster.session
    assert session._jsparkSession.experimental().extraOptimizations().isEmpty()
    file_stream.write()
    query.processAllAvailable()
    assert collected.rows == file_stream.expected()
