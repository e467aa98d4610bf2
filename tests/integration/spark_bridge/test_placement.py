"""Where key groups run: evenly from the first batch on, then where the brain wants them, exact all the time."""

from __future__ import annotations

import collections
import itertools
import json
import pathlib
import uuid
from typing import Any

import pytest
from pyspark.sql import functions as F

from streamjob_agent.wire import GroupKey

pytestmark = pytest.mark.spark
MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
STREAMING = "org.apache.spark.sql.execution.streaming."


def counts(stream: Any) -> Any:
    return stream.read().groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("total"))


def start_counts(stream: Any, sink: Any) -> Any:
    """Counts and sums by key, through foreachBatch."""
    writer = counts(stream).writeStream.outputMode("update").foreachBatch(sink)
    return writer.option("checkpointLocation", stream.checkpoint).start()


def rotated(watch: Any, seen: dict[GroupKey, str], step: int = 1) -> dict[GroupKey, Any]:
    """Every key group on another executor than it is on."""
    ring = watch.executors()
    index = {executor.executor_id: i for i, executor in enumerate(ring)}
    return {key: ring[(index[owner] + step) % len(ring)] for key, owner in seen.items()}


def test_self_test_passes(bridge: Any) -> None:
    checks = dict(bridge.self_test())
    ahead = checks.pop("state_ahead")
    older = bridge.spark_version().startswith("3.5")
    assert ahead == "ok" or (older and "far state of joins" in ahead)
    assert checks.pop("joins").startswith("ok, but with Spark 3.5" if older else "ok")
    assert set(checks.values()) == {"ok"}
    assert bridge.spark_version().count(".") >= 2
    assert bridge.application_id().startswith("app-")
    assert [executor.cores for executor in bridge.look().executors] == [1, 1, 1]


def test_executors_tell_their_memory(bridge: Any, spark_cluster: Any) -> None:
    executors = {executor.executor_id for executor in bridge.look().executors}
    memory = spark_cluster.wait_until(lambda: (told := bridge.memory()).keys() == executors and told, "heartbeats")
    assert all(one.used_bytes > 10**7 for one in memory.values())
    assert all(one.limit_bytes is None for one in memory.values()), "no container holds them"


def test_batch_0_is_even_moves_are_obeyed_and_a_restart_keeps_them(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    file_stream.write()
    query = start_counts(file_stream, collected)
    first = watch.run(query)
    assert sorted(collections.Counter(first.values()).values()) == [2, 3, 3]
    assert watch.first_tasks == dict.fromkeys(first.values(), 1), "one batch and stage, and a slot on each executor"

    wanted = watch.move_all(query, rotated(watch, first))
    file_stream.write()
    assert watch.run(query) == wanted

    query.stop()
    again = start_counts(file_stream, collected)
    assert again.id == query.id
    file_stream.write()
    assert watch.run(again) == wanted
    assert collected.rows == file_stream.expected()
    assert watch.failed_tasks == 0


def test_key_groups_of_a_checkpoint_that_has_a_whole_store_are_placed_and_moved(
    watch: Any, file_stream: Any, collected: Any, tmp_path: pathlib.Path
) -> None:
    """As `s3a://bucket/`: Spark's names of what is in it have one slash after the bucket."""
    name, conf = f"far{uuid.uuid4().hex}", watch.cluster.session.conf
    (tmp_path / "bucket").mkdir()
    settings = {
        f"fs.viewfs.mounttable.{name}.linkMergeSlash": f"file://{tmp_path}/bucket",
        MANAGER: of_file_systems(watch.cluster.session),  # the other one does not know this name's root
    }
    for key, value in settings.items():
        conf.set(key, value)
    file_stream.checkpoint = f"viewfs://{name}/"
    try:
        file_stream.write()
        query = start_counts(file_stream, collected)
        first = watch.run(query)
        assert sorted(collections.Counter(first.values()).values()) == [2, 3, 3]
        wanted = watch.move_all(query, rotated(watch, first))
        file_stream.write(files=2)
        assert watch.run(query) == wanted
        query.stop()
    finally:
        for key in settings:
            conf.unset(key)
    assert collected.rows == file_stream.expected()


def of_file_systems(session: Any) -> str:
    """The class, whose package is another one before Spark 4.1."""
    names = [f"{STREAMING}{package}FileSystemBasedCheckpointFileManager" for package in ("checkpointing.", "")]
    loadable = session.sparkContext._jvm.org.apache.spark.util.Utils.classIsLoadable
    return next(name for name in names if loadable(name))


def test_what_is_asked_for_again_before_its_next_task_is_registered_once(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    file_stream.write()
    query = start_counts(file_stream, collected)
    wanted = rotated(watch, watch.run(query))

    def newly() -> int:
        """Registrations of one more call; a query that finds no data makes all of them anew now and then, too."""
        before = watch.bridge.diagnostics()[1]["registered"]
        watch.move_all(query, wanted)
        return int(watch.bridge.diagnostics()[1]["registered"] - before)

    assert newly() >= len(wanted)
    watch.cluster.wait_until(lambda: newly() == 0, "nothing is registered again")
    file_stream.write()
    assert watch.run(query) == {key: executor.executor_id for key, executor in wanted.items()}
    query.stop()


def test_plain_sink_obeys_each_batch_while_batches_follow_at_once(watch: Any, file_stream: Any) -> None:
    file_stream.write(files=6)
    writer = counts(file_stream).writeStream.outputMode("complete").format("memory").queryName("plain")
    query = writer.option("checkpointLocation", file_stream.checkpoint).start()
    seen = watch.run(query)
    for step in (1, 2):
        wanted = watch.move_all(query, rotated(watch, seen, step))
        file_stream.write()
        seen = watch.run(query)
        assert seen == wanted
    rows = {row.k: (row.n, row.total) for row in watch.cluster.session.table("plain").collect()}
    assert rows == file_stream.expected()


def test_chained_operators_two_queries_traffic_and_state_bytes(watch: Any, file_stream: Any, collected: Any) -> None:
    file_stream.write(keys=40)
    chain = counts(file_stream).groupBy("n").agg(F.count("*").alias("keys"))
    sink = chain.writeStream.format("memory").queryName("chained").outputMode("complete")
    query = sink.option("checkpointLocation", file_stream.checkpoint + "-chain").start()
    other = start_counts(file_stream, collected)
    seen = watch.run(query)
    assert {key.operator for key in seen} == {0, 1}
    for operator in (0, 1):
        owners = [owner for key, owner in seen.items() if key.operator == operator]
        assert sorted(collections.Counter(owners).values()) == [2, 3, 3]
    assert {key.operator for key in watch.finish(other)} == {0}
    assert collected.rows == file_stream.expected()

    reading = watch.bridge.traffic(query.id, min_bytes=1, max_pairs=5)
    pairs = reading.pairs
    assert 0 < len(pairs) <= 5
    assert {(pair.from_key.operator, pair.to_key.operator) for pair in pairs} == {(1, 0)}
    assert list(pairs) == sorted(pairs, key=lambda pair: -pair.size_bytes)
    heavy = watch.bridge.traffic(query.id, min_bytes=10**12, max_pairs=5)
    assert (heavy.pairs, heavy.sent) == ((), reading.sent), "what a group sends in all is not cut"
    whole = watch.bridge.traffic(query.id, min_bytes=1, max_pairs=1000)
    for key, sent in whole.sent.items():
        own = [pair.size_bytes for pair in whole.pairs if pair.from_key == key]
        assert (sent.size_bytes, sent.partners) == (sum(own), len(own))
    assert set(whole.sent) == {GroupKey(operator=1, partition=at) for at in range(8)}

    sizes = watch.bridge.state_bytes(query.id)
    assert set(sizes) == {GroupKey(operator=o, partition=p) for o, p in itertools.product((0, 1), range(8))}
    assert all(size > 0 for key, size in sizes.items() if key.operator == 1)
    operators = {found.query_id: dict(found.operators) for found in watch.bridge.look().queries}
    assert operators == {query.id: {0: 8, 1: 8}, other.id: {0: 8}}

    wanted = watch.move_all(query, rotated(watch, seen))
    file_stream.write(keys=40)
    assert watch.run(query) == wanted
    # Each batch hands on the 40 keys with their counts so far: 5 after the first file, 10 after the second.
    rows = watch.cluster.session.table("chained").collect()
    assert {row.n: row["keys"] for row in rows} == {5: 40, 10: 40}


def test_a_query_of_another_session_is_found_and_moved(watch: Any, file_stream: Any, collected: Any) -> None:
    file_stream.session = watch.cluster.session.newSession()
    file_stream.write()
    query = start_counts(file_stream, collected)
    query.processAllAvailable()
    assert [found.query_id for found in watch.bridge.look().queries] == [query.id]
    file_stream.write()
    seen = watch.run(query)
    wanted = watch.move_all(query, rotated(watch, seen))
    file_stream.write()
    assert watch.run(query) == wanted
    assert collected.rows == file_stream.expected()


@pytest.mark.parametrize(("earlier", "wanted"), [(4, [2, 3, 3]), (2, [2, 3, 3]), (1, [2, 2, 4])])
def test_groups_that_shared_an_executor_do_so_again_on_other_numbers_of_executors(
    watch: Any, file_stream: Any, collected: Any, earlier: int, wanted: list[int]
) -> None:
    query_id = str(uuid.uuid4())
    pathlib.Path(file_stream.checkpoint).mkdir()
    (pathlib.Path(file_stream.checkpoint) / "metadata").write_text(json.dumps({"id": query_id}))
    old = [str(40 + p * earlier // 8) for p in range(8)]
    watch.bridge.remember(query_id, {0: old})
    file_stream.write()
    query = start_counts(file_stream, collected)
    assert query.id == query_id
    seen = watch.run(query)
    assert sorted(collections.Counter(seen.values()).values()) == wanted
    together = [{old[key.partition] for key, owner in seen.items() if owner == name} for name in set(seen.values())]
    assert sum(len(homes) for homes in together) <= max(earlier, 3) + 2  # hardly anybody was parted
    assert collected.rows == file_stream.expected()


def test_groups_that_shared_an_executor_do_so_again_though_nobody_had_the_last_one(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    """One that was being drained when the driver ended, for example."""
    query_id = str(uuid.uuid4())
    pathlib.Path(file_stream.checkpoint).mkdir()
    (pathlib.Path(file_stream.checkpoint) / "metadata").write_text(json.dumps({"id": query_id}))
    watch.bridge.remember(query_id, {0: ["42", "40", "41", "41", "40", "42", "42", None]})
    file_stream.write()
    query = start_counts(file_stream, collected)
    seen = {key.partition: owner for key, owner in watch.run(query).items()}
    assert seen[0] == seen[5] == seen[6]
    assert (seen[1], seen[2]) == (seen[4], seen[3])
    assert len(set(seen.values())) == 3


KEY = "spark.locality.wait.process"


def test_the_wait_for_an_executor_counts_while_a_batch_with_state_runs_and_no_longer(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    conf = watch.cluster.session.sparkContext._jsc.sc().conf()
    assert not conf.contains(KEY)
    waits = []
    collected.before_collect = lambda _: waits.append(conf.get(KEY))
    file_stream.write()
    query = start_counts(file_stream, collected)
    watch.run(query)
    watch.cluster.wait_until(lambda: not conf.contains(KEY), "it is taken back")
    assert watch.bridge.set_locality_wait(7.0)
    assert not conf.contains(KEY)
    file_stream.write(files=2)
    watch.run(query)
    assert waits == ["30000ms", "7000ms", "7000ms"]
    watch.cluster.wait_until(lambda: not conf.contains(KEY), "it is taken back")
