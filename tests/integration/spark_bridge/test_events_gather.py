"""Ends of a stage's tasks come together before they are heard; where far state moves, each is heard at once."""

from __future__ import annotations

import contextlib
import pathlib
import uuid
from collections.abc import Iterator
from typing import Any

import inside
import pytest
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark
TASKS, NAP_MS, WAIT_S, MOVES = 40, 10, 300.0, 8
TASK = "end of a made-up task"


@pytest.fixture
def far(spark_cluster: Any, tmp_path: pathlib.Path) -> Iterator[str]:
    """A checkpoint under a name that is not a file's: state there is as far for the probe as an object store."""
    name, conf = f"far{uuid.uuid4().hex}", spark_cluster.session.conf
    (tmp_path / "far").mkdir()
    conf.set(f"fs.viewfs.mounttable.{name}.link./all", f"file://{tmp_path}/far")
    yield f"viewfs://{name}/all/checkpoint"
    conf.unset(f"fs.viewfs.mounttable.{name}.link./all")


@contextlib.contextmanager
def started(spark_cluster: Any, checkpoint: str) -> Iterator[Any]:
    """Each batch has a stage of TASKS tasks that take a while, and one of few key groups."""
    source = spark_cluster.session.readStream.format("rate-micro-batch").option("rowsPerBatch", TASKS)
    rows = source.option("numPartitions", TASKS).load()
    naps = F.expr(f"reflect('java.lang.Thread', 'sleep', cast({NAP_MS} as bigint))")
    counts = rows.withColumn("napped", naps).where("napped is null").groupBy((F.col("value") % 40).alias("k")).count()
    writer = counts.writeStream.outputMode("update").format("noop")
    query = writer.option("checkpointLocation", checkpoint).start()
    try:
        yield query
    finally:
        query.stop()


def waited(watch: Any) -> int:
    """Ends of tasks that waited for what came after them."""
    return int(watch.bridge.diagnostics()[1]["gathered"])


def ended(watch: Any, query: Any, batch: int) -> None:
    """Waits for the end of that batch, drained by then."""
    watch.cluster.wait_until(lambda: watch._has(str(query.id), batch), f"batch {batch}", WAIT_S)


def waited_in_moves(watch: Any, query: Any, turn: int) -> int:
    """All key groups go to one executor: ends of tasks that waited until two batches have ended."""
    goals = watch.move_all(query, dict.fromkeys(watch.seen[str(query.id)], watch.executors()[turn % 2]))
    watch.drain()
    before, last = waited(watch), watch.batches[str(query.id)]
    ended(watch, query, last + 2)
    found = waited(watch) - before
    ended(watch, query, last + 3)
    assert {key: watch.seen[str(query.id)][key] for key in goals} == goals
    assert watch.failed_tasks == 0
    assert not watch.bridge.diagnostics()[0], "faults"
    return found


def some_wait(watch: Any) -> None:
    """As many ends of tasks wait as two stages have."""
    before = waited(watch)

    def many() -> bool:
        watch.drain()
        return waited(watch) - before >= 2 * TASKS

    watch.cluster.wait_until(many, "ends of tasks that wait", WAIT_S)


def test_ends_of_tasks_come_together_but_none_waits_while_far_state_moves(
    watch: Any, spark_cluster: Any, far: str
) -> None:
    with started(spark_cluster, far) as query:
        ended(watch, query, 2)
        some_wait(watch)
        # Where this thread stood still for a batch after it had moved them, later batches are counted: once more then.
        assert any(waited_in_moves(watch, query, turn) == 0 for turn in range(MOVES))
        some_wait(watch)


def test_nothing_is_opened_ahead_on_a_disk_of_the_machine_so_ends_of_tasks_wait_all_the_same(
    watch: Any, spark_cluster: Any, tmp_path: pathlib.Path
) -> None:
    with started(spark_cluster, str(tmp_path / "checkpoint")) as query:
        ended(watch, query, 2)
        assert all(waited_in_moves(watch, query, turn) > 0 for turn in range(2))


@pytest.fixture
def gathering(watch: Any) -> Any:
    """A gathering that hears nothing of Spark: tasks of a query that was stopped end whenever they do."""
    return inside.another(watch.cluster.session, inside.field(watch.bridge._probe, "gathering"))


def due(gathering: Any) -> bool:
    """Whether the thread that takes events in is to do so."""
    return bool(inside.field(gathering, "due"))


def test_ends_of_tasks_wait_for_what_comes_after_them_or_until_there_are_many(gathering: Any, watch: Any) -> None:
    session = watch.cluster.session
    for at in range(99):
        inside.call(session, gathering, "ended", f"task {at}")
    assert not due(gathering)
    inside.call(session, gathering, "happened", "a stage has ended")
    assert due(gathering)
    taken = list(inside.call(session, gathering, "take"))
    assert taken == [*(f"task {at}" for at in range(99)), "a stage has ended"]
    assert not due(gathering)
    for at in range(100):
        assert not due(gathering), at
        inside.call(session, gathering, "ended", f"task {at}")
    assert due(gathering)


def told(watch: Any) -> int:
    """Ends of made-up tasks that nobody has taken in yet; what real ones do beside them is not counted."""
    waiting = inside.field(inside.field(watch.bridge._probe, "gathering"), "told")
    return sum(str(event) == TASK for event in waiting.toArray())


def test_ends_of_tasks_are_taken_in_when_somebody_asks_and_when_a_job_begins(watch: Any) -> None:
    live, session = inside.field(watch.bridge._probe, "gathering"), watch.cluster.session
    inside.call(session, live, "ended", TASK)
    watch.drain()
    assert told(watch) == 0
    for _ in range(50):
        inside.call(session, live, "ended", TASK)
    session.sparkContext.parallelize([1], 1).count()
    watch.cluster.wait_until(lambda: told(watch) == 0, "nobody asked, but a job began")


def test_what_there_is_no_room_for_is_told_as_missing(watch: Any) -> None:
    session = watch.cluster.session
    live = inside.field(watch.bridge._probe, "gathering")

    def lost() -> bool:
        room = session.sparkContext._jvm.java.util.ArrayList()
        room.addAll(session.sparkContext._jvm.java.util.Collections.nCopies(10_000, TASK))
        inside.swap(live, "told", room)
        inside.call(session, live, "ended", TASK)
        return int(watch.bridge.drain().dropped) == 1

    watch.drain()
    watch.cluster.wait_until(lost, "one event too many")  # again where real news had it taken in between
