"""Events of a long stage come together before they are heard; where key groups move, each is heard at once."""

from __future__ import annotations

import contextlib
import pathlib
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import inside
import pytest
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark
TASKS, NAP_MS, WAIT_S = 40, 10, 300.0
FOR_EVER_MS = 10**9


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


def rests(watch: Any) -> int:
    return int(watch.bridge.diagnostics()[1]["gathered"])


def ended(watch: Any, query: Any, batch: int) -> None:
    """Waits for the end of that batch, drained by then."""
    watch.cluster.wait_until(lambda: watch._has(str(query.id), batch), f"batch {batch}", WAIT_S)


def moved(watch: Any, query: Any) -> tuple[int, int]:
    """All key groups go to one executor: how often events gathered until the next batch's end, and in three more."""
    ended(watch, query, 2)
    goals = watch.move_all(query, dict.fromkeys(watch.seen[str(query.id)], watch.executors()[0]))
    counts, last = [rests(watch)], watch.batches[str(query.id)]
    for batch in (last + 1, last + 4):
        ended(watch, query, batch)
        counts.append(rests(watch))
    assert {key: watch.seen[str(query.id)][key] for key in goals} == goals
    assert watch.failed_tasks == 0
    assert not watch.bridge.diagnostics()[0], "faults"
    return counts[1] - counts[0], counts[2] - counts[1]


def test_events_of_a_long_stage_come_together_but_none_waits_while_far_state_moves(
    watch: Any, spark_cluster: Any, far: str
) -> None:
    with started(spark_cluster, far) as query:
        ended(watch, query, 2)
        before = rests(watch)
        ended(watch, query, watch.batches[str(query.id)] + 2)
        assert rests(watch) > before
        first, later = moved(watch, query)
        assert first <= 1, "the one that slept when they began to move"
        assert later > 0


def test_nothing_is_opened_ahead_on_a_disk_of_the_machine_so_events_gather_all_the_same(
    watch: Any, spark_cluster: Any, tmp_path: pathlib.Path
) -> None:
    with started(spark_cluster, str(tmp_path / "checkpoint")) as query:
        first, later = moved(watch, query)
        assert first + later > 0


@pytest.mark.parametrize("happens", ["a job begins", "groups move"])
def test_what_is_not_of_a_task_alone_ends_a_rest(watch: Any, spark_cluster: Any, happens: str) -> None:
    gathering, session = inside.field(watch.bridge._probe, "gathering"), spark_cluster.session
    does: dict[str, Callable[[], object]] = {
        "a job begins": lambda: session.sparkContext.parallelize([1], 1).count(),
        "groups move": lambda: inside.call(session, gathering, "moves"),
    }
    spark_cluster.session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    inside.call(session, gathering, "sleep", 1)  # what had happened before
    resting = threading.Thread(
        target=inside.call, args=(session, gathering, "sleep", FOR_EVER_MS), daemon=True, name="rests"
    )
    resting.start()
    does[happens]()
    resting.join(WAIT_S)
    assert not resting.is_alive()
