"""What the probe must not do to a driver: swallow an interrupt, keep what is over, hold up or outstay anything."""

from __future__ import annotations

import json
import os
import pathlib
import threading
import uuid
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from inside import call, compiled, field, swap
from pyspark.sql import functions as F
from test_placement import rotated

from streamjob_agent.spark import connect

pytestmark = pytest.mark.spark
WAIT = "spark.locality.wait.process"
QUERY, BATCH = "sql.streaming.queryId", "streaming.sql.batchId"
REMEMBERED = ("Registry.queries", "Tracked.", "Operator.", "Shapes.", "Shape.", "Plans.", "Meter.runs")
STAGES = ("Meter.endedStages", "Stage.", "Stages$")
"""What grows with the queries and stages of a driver, up to the number of those that are remembered."""


def start_counts(stream: Any, sink: Any, folder: pathlib.Path | None = None) -> Any:
    counts = stream.read().groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("total"))
    writer = counts.writeStream.outputMode("update").foreachBatch(sink)
    return writer.option("checkpointLocation", str(folder or stream.checkpoint)).start()


def test_an_interrupt_that_strikes_while_the_probe_works_is_still_there_afterwards(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    """`query.stop()` interrupts the query's thread once and waits: an interrupt that is lost costs a whole batch."""
    file_stream.write()
    query = start_counts(file_stream, collected)
    watch.move_all(query, rotated(watch, watch.run(query)))  # something to register
    context = watch.cluster.session.sparkContext
    jvm, hook, listener = context._jvm, field(watch.bridge._probe, "hook"), field(watch.bridge._probe, "listener")
    started = query._jsq.streamingQuery()
    event = jvm.org.apache.spark.sql.streaming.StreamingQueryListener.QueryStartedEvent
    for work in (
        lambda: hook.apply(None),
        lambda: listener.onQueryStarted(event(started.id(), started.runId(), None, "2026-01-01T00:00:00Z")),
    ):
        context._jsc.setLocalProperty(QUERY, query.id)
        context._jsc.setLocalProperty(BATCH, "999")
        jvm.java.lang.Thread.currentThread().interrupt()
        work()
        assert jvm.java.lang.Thread.interrupted()
        context._jsc.setLocalProperty(QUERY, None)
        context._jsc.setLocalProperty(BATCH, None)


def hooks_of(query: Any) -> int:
    session = query._jsq.streamingQuery().sparkSessionForStream()
    return int(session.experimental().extraOptimizations().size())


def test_what_is_detached_leaves_no_rule_in_the_session_of_a_query_that_goes_on(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    file_stream.write()
    query = start_counts(file_stream, collected)
    query.processAllAvailable()
    before = hooks_of(query)
    for _ in range(2):
        bridge = connect(watch.cluster.session)
        bridge.look()
        assert hooks_of(query) == before + 1
        bridge.close()
    assert hooks_of(query) == before


def census(watch: Any) -> dict[str, int]:
    told = compiled(watch.cluster.session, "Census").of(watch.bridge._probe)
    return {name: int(count) for name, count in (line.split("\t") for line in told.splitlines())}


def test_what_is_kept_does_not_grow_with_queries_that_are_over(
    watch: Any, file_stream: Any, collected: Any, tmp_path: pathlib.Path
) -> None:
    def some_queries() -> dict[str, int]:
        for _ in range(2):
            file_stream.write()
            query = start_counts(file_stream, collected, tmp_path / uuid.uuid4().hex)
            watch.run(query)
            query.stop()
        watch.bridge.look()
        watch.drain()
        return census(watch)

    before, after = some_queries(), some_queries()
    grown = {name for name, count in after.items() if count > before.get(name, 0)}
    assert not {name for name in grown if not name.startswith((*REMEMBERED, *STAGES))}
    assert after.get("Tracked.hadoop", 0) == 0, "half a megabyte for each query that has ended"
    assert after.get("Tracked.plans", 0) == 0


def test_a_query_that_ends_in_mid_batch_leaves_no_key_groups_behind(
    watch: Any, file_stream: Any, tmp_path: pathlib.Path
) -> None:
    """There is room for so many: those of queries that are over would in the end be all."""

    def fails_after_its_tasks(rows: Any, _: int) -> None:
        rows.collect()
        raise ValueError("made to fail")

    file_stream.write()
    query = start_counts(file_stream, fails_after_its_tasks, tmp_path / uuid.uuid4().hex)
    with pytest.raises(Exception, match="made to fail"):
        query.awaitTermination()
    watch.cluster.session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    watch.drain()
    assert watch.seen[query.id], "its tasks were seen"
    watch.drain()
    meter = field(watch.bridge._probe, "meter")
    assert not field(meter, "groups").containsKey(query.id)
    assert not field(meter, "runs").containsKey(query.id)


def snapshot(folder: pathlib.Path, version: int) -> None:
    """As RocksDB's provider writes it, with one file of a table."""
    folder.mkdir(parents=True, exist_ok=True)
    named = json.dumps({"sstFiles": [{"localFileName": "1.sst", "dfsSstFileName": f"1-{version}.sst"}]})
    with zipfile.ZipFile(folder / f"{version}.zip", "w") as archive:
        archive.writestr("metadata", f"v1\n{named}")
    (folder / "SSTs").mkdir(exist_ok=True)
    (folder / "SSTs" / f"1-{version}.sst").write_bytes(b"x" * 1000 * version)


def test_of_a_stores_snapshots_only_the_newest_is_remembered(watch: Any, tmp_path: pathlib.Path) -> None:
    """The names of hundreds of files each, in a driver that runs for months."""
    sizes = field(watch.bridge._probe, "sizes")
    context = watch.cluster.session.sparkContext
    jvm, read = context._jvm, list[int]()
    for version in (1, 2, 3):
        snapshot(tmp_path / "0" / "0", version)
        late = jvm.java.lang.System.nanoTime() + 600 * 10**9
        operator = jvm.java.lang.Long(0)
        found = call(
            watch.cluster.session, sizes, "of", context._jsc.hadoopConfiguration(), str(tmp_path), operator, 1, late
        )
        read.append(found[0] - (tmp_path / "0" / "0" / f"{version}.zip").stat().st_size)
    assert read == [1000, 2000, 3000]
    kept = [one for one in field(sizes, "snapshots").keySet() if str(tmp_path) in str(one)]
    assert len(kept) == 1


def test_a_wait_is_taken_back_though_the_end_of_its_batch_was_never_heard(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    """Spark drops events when its queue is full."""
    conf, listener = watch.cluster.session.sparkContext._jsc.sc().conf(), field(watch.bridge._probe, "listener")
    wait = swap(listener, "wait", None)
    try:
        file_stream.write()
        query = start_counts(file_stream, collected)
        watch.run(query)
        assert conf.contains(WAIT)
        query.stop()
    finally:
        swap(listener, "wait", wait)
    watch.bridge.look()
    assert not conf.contains(WAIT)


@pytest.fixture
def cached(spark_cluster: Any) -> Iterator[Any]:
    """Data of another job of the driver, on the executors."""
    rows = spark_cluster.session.sparkContext.parallelize(range(3), 3).persist()
    rows.count()
    yield rows
    rows.unpersist()


def waits(context: Any) -> dict[int, int]:
    """Stage -> ms that its tasks wait for their own executor, of the stages that run and have such tasks."""
    scheduler, found = context._jsc.sc().taskScheduler(), {}
    for stage in context.statusTracker().getActiveStageIds():
        known = scheduler.taskSetManagerForAttempt(stage, 0)
        if known.isDefined() and str(known.get().myLocalityLevels()[0]) == "PROCESS_LOCAL":
            found[stage] = known.get().localityWaits()[0]
    return found


def test_a_batch_with_state_makes_no_other_tasks_wait_longer_for_their_executor(
    watch: Any, file_stream: Any, collected: Any, cached: Any
) -> None:
    context, newest = watch.cluster.session.sparkContext, {}

    def sleep(rows: Any) -> None:
        import time  # in the executor

        time.sleep(3)

    def meanwhile(_: int) -> None:
        """A batch with state goes on, and another job of the driver begins."""
        collected.before_collect = None
        other = threading.Thread(target=lambda: cached.foreachPartition(sleep))
        other.start()
        while other.is_alive():
            newest.update(waits(context))
        other.join()

    file_stream.write()
    query = start_counts(file_stream, collected)
    watch.run(query)
    collected.before_collect = meanwhile
    file_stream.write()
    watch.run(query)
    assert collected.before_collect is None
    assert set(newest.values()) == {0}, "as the job itself has it: spark.locality.wait=0s"


def test_the_tasks_with_state_have_the_wait_that_is_meant_for_them(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    context, seen = watch.cluster.session.sparkContext, {}

    @F.udf("long")
    def slowly(n: int) -> int:
        import time  # in the executor

        time.sleep(0.1)
        return n

    counts = file_stream.read().groupBy("k").agg(F.count("*").alias("n")).select("k", slowly("n"))
    writer = counts.writeStream.outputMode("update").foreachBatch(collected)
    file_stream.write()
    query = writer.option("checkpointLocation", file_stream.checkpoint).start()
    watch.run(query)
    file_stream.write()
    watch.cluster.wait_until(lambda: seen.update(waits(context)) or seen, "a stage with state")
    last = max(seen)
    watch.cluster.wait_until(lambda: ((now := waits(context)) and seen.update(now)) or last not in now, "its end")
    query.processAllAvailable()
    assert seen[last] == 30_000


def test_a_query_that_nobody_told_of_is_placed_once_spark_says_that_it_has_started(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    """As from Scala, or a client of Spark Connect: in a session of its own, and nobody looks."""
    marked = watch.executors()[0].executor_id
    watch.bridge.mark([marked])
    before = watch.bridge.diagnostics()[1]["registered"]
    file_stream.session = watch.cluster.session.newSession()
    query = start_counts(file_stream, collected)
    watch.cluster.wait_until(lambda: watch.bridge.diagnostics()[1]["registered"] > before, "it is found")
    assert hooks_of(query) == 1
    file_stream.write()
    seen = watch.run(query)
    watch.bridge.mark([])
    assert len(seen) == 8
    assert marked not in seen.values()
    assert collected.rows == file_stream.expected()


def test_a_query_whose_stop_came_just_before_the_gate_is_held_there_no_longer(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    """The stop's interrupt was lost on the way, and who stops waits for the query's thread without a limit."""
    session, gate = watch.cluster.session, field(field(watch.bridge._probe, "stopper"), "gate")
    running = field(watch.bridge._probe, "running")
    id_of = session.sparkContext._jvm.java.util.UUID.fromString
    file_stream.write()
    query = start_counts(file_stream, collected)
    watch.run(query)
    execution, over = running.get(id_of(query.id)), watch.cluster.wait_until
    query.stop()
    terminated = _state(execution).get()

    file_stream.write()
    call(session, gate, "close", session.sparkContext._jvm.java.lang.Long(600_000))
    try:
        query = start_counts(file_stream, collected)
        over(lambda: call(session, gate, "holds", query.id), "it is held")
        _state(running.get(id_of(query.id))).set(terminated)
        over(lambda: not running.containsKey(id_of(query.id)), "its thread has ended")
        assert query.exception() is None
    finally:
        swap(gate, "closed", False)
    watch.run(start_counts(file_stream, collected))
    assert collected.rows == file_stream.expected()


def _state(execution: Any) -> Any:
    """Spark's own word for whether a query goes on."""
    kind = execution.getClass()
    while kind.getSimpleName() != "StreamExecution":
        kind = kind.getSuperclass()
    found = kind.getDeclaredField("state")
    found.setAccessible(True)
    return found.get(execution)


def test_the_traffic_of_a_batch_is_read_without_the_monitor_that_the_next_batch_waits_for(
    watch: Any, file_stream: Any
) -> None:
    """A shuffle of 10,000 by 10,000 key groups has 100 million sizes; batches register under the query's monitor."""
    chain = file_stream.read().groupBy("k").agg(F.count("*").alias("n")).groupBy("n").agg(F.count("*").alias("keys"))
    writer = chain.writeStream.format("memory").queryName("sent").outputMode("complete")
    file_stream.write()
    query = writer.option("checkpointLocation", file_stream.checkpoint).start()
    watch.run(query)
    tracked = field(field(watch.bridge._probe, "registry"), "queries").get(query.id)
    ((shuffle, at),) = field(tracked, "links").values()
    monitored = compiled(watch.cluster.session, "Monitored")
    monitored.watch(watch.cluster.session.sparkContext._jsc.sc(), shuffle, at, tracked)
    assert watch.bridge.traffic(query.id, min_bytes=1, max_pairs=1000).pairs
    assert field(monitored, "calls") == 8
    assert field(monitored, "held") == 0


def test_sums_that_nobody_fetches_stay_bounded(watch: Any) -> None:
    """The agent's Python is stuck: what queries add up to is not fetched."""
    meter = field(watch.bridge._probe, "meter")
    others = field(meter, "others")
    for number in range(1000):
        others.put(f"query-{number}", 1)
    call(watch.cluster.session, meter, "add", others, "one more", 5)
    assert others.size() == 1000
    assert watch.bridge.drain().dropped == 1


def test_a_fault_of_a_method_called_by_name_is_told_in_its_own_words(watch: Any) -> None:
    jvm = watch.cluster.session.sparkContext._jvm
    wrapped = jvm.java.lang.reflect.InvocationTargetException(jvm.java.lang.IllegalStateException("no such plan"))
    call(watch.cluster.session, field(watch.bridge._probe, "faults"), "caught", "words", wrapped)
    assert watch.bridge.diagnostics()[0]["words"] == (1, "java.lang.IllegalStateException: no such plan")


def test_a_stage_in_which_the_clock_was_set_back_takes_nothing_off_what_was_counted(watch: Any) -> None:
    session = watch.cluster.session
    jvm, meter = session.sparkContext._jvm, field(watch.bridge._probe, "meter")
    nothing = getattr(getattr(jvm.scala.collection.immutable, "Nil$"), "MODULE$")
    none = jvm.scala.Option.empty()
    info = jvm.org.apache.spark.scheduler.StageInfo(
        987_654_321, 0, "s", 1, nothing, nothing, "", None, nothing, none, 0, False, 0
    )
    properties = jvm.java.util.Properties()
    for name, value in ((QUERY, "clock"), (BATCH, "0")):
        properties.setProperty(name, value)
    call(session, info, "submissionTime_$eq", jvm.scala.Option.apply(jvm.java.lang.Long.valueOf(9000)))
    call(session, info, "completionTime_$eq", jvm.scala.Option.apply(jvm.java.lang.Long.valueOf(2000)))
    call(session, meter, "jobStarted", 987_654_321, getattr(nothing, "$colon$colon")(info), "clock", 0, 0)
    stage = call(session, meter, "submitted", info, properties)
    call(session, meter, "completed", info, field(watch.bridge._probe, "registry"))
    assert field(field(stage, "node"), "wallMs") == 0


def test_a_listing_of_a_local_checkpoint_ends_at_its_deadline(watch: Any, file_stream: Any, collected: Any) -> None:
    """A folder of this machine may be far away, too."""
    file_stream.write()
    query = start_counts(file_stream, collected)
    watch.run(query)
    with pytest.raises(Exception, match="more files than can be listed in time"):
        watch.bridge._probe.stateBytes(query.id, 0)


@pytest.mark.parametrize("kept", [False, True])
def test_a_file_system_that_hadoop_keeps_for_nobody_is_closed_after_each_reading(
    watch: Any, tmp_path: pathlib.Path, kept: bool
) -> None:
    """`fs.SCHEME.impl.disable.cache`: each one of an object store has threads and connections of its own."""
    session, probe = watch.cluster.session, watch.bridge._probe
    files, hadoop = compiled(session, "Opened"), session.sparkContext._jvm.org.apache.hadoop.conf.Configuration()
    hadoop.setClassLoader(files.getClass().getClassLoader())
    name = f"n{uuid.uuid4().hex}"
    hadoop.set("fs.viewfs.impl", files.getClass().getName())
    hadoop.set("fs.viewfs.impl.disable.cache", str(not kept).lower())
    hadoop.set(f"fs.viewfs.mounttable.{name}.link./all", f"file://{tmp_path}")
    for file, text in (("0/3/1.delta", "state"), ("offsets/0", "v1"), ("offsets/1", "v2")):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    sizes, root = field(probe, "sizes"), f"viewfs://{name}/all"
    for _ in range(3):
        until = session.sparkContext._jvm.java.lang.System.nanoTime() + 60 * 10**9
        assert list(call(session, sizes, "of", hadoop, root, 0, 4, until)) == [0, 0, 0, len("state")]
        assert call(session, field(probe, "binder"), "newestOffsets", hadoop, root) == "v2"
    assert field(files, "open") == int(kept)


def test_batches_go_on_while_their_query_is_found_and_its_checkpoint_is_slow(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    file_stream.write()
    query = start_counts(file_stream, collected)
    watch.run(query)
    slow = pathlib.Path(file_stream.checkpoint) / "offsets" / "999999"
    os.mkfifo(slow)  # whoever reads it waits until somebody writes
    field(field(watch.bridge._probe, "registry"), "queries").remove(query.id)  # as one that began unseen
    looking = threading.Thread(target=watch.bridge.look, daemon=True)
    looking.start()
    try:
        threads = watch.cluster.session.sparkContext._jvm.java.lang.Thread
        watch.cluster.wait_until(lambda: _reads(threads), "the checkpoint is being read")
        file_stream.write()
        batch = threading.Thread(target=query.processAllAvailable, daemon=True)
        batch.start()
        batch.join(60)
        assert looking.is_alive()
        assert not batch.is_alive()
        watch.cluster.session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(60_000)
    finally:
        slow.write_text("")
        looking.join(60)
    assert collected.rows == file_stream.expected()


def _reads(threads: Any) -> bool:
    """Whether a thread is in the probe, looking for the newest offsets."""
    stacks = [stack for stack in threads.getAllStackTraces().values() if len(stack)]
    return any("newestOffsets" in str(frame.getMethodName()) for stack in stacks for frame in stack)


def test_any_character_may_stand_in_the_names_of_the_job(watch: Any, file_stream: Any, collected: Any) -> None:
    odd = "a\x1eb\u2028c\td\ne"
    counts = file_stream.read().observe(odd, F.count("*").alias(odd)).groupBy(F.col("k").alias(odd)).count()
    writer = counts.writeStream.outputMode("update").queryName(odd).foreachBatch(collected)
    file_stream.write()
    query = writer.option("checkpointLocation", file_stream.checkpoint).start()
    assert len(watch.run(query)) == 8
    (known,) = watch.bridge.look().queries
    file_stream.write()
    watch.run(query)
    assert known.query_id == query.id
    assert known.name == odd.replace("\t", " ").replace("\n", " ")
    assert watch.bridge.plan(known) is not None
