"""Events of a long stage come together before they are heard; where key groups move, each is heard at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import inside
import pytest
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark
TASKS, NAP_MS, WAIT_S = 40, 10, 300.0
FOR_EVER_MS = 10**9


@pytest.fixture
def query(watch: Any, spark_cluster: Any, tmp_path: Any) -> Iterator[Any]:
    """Each batch has a stage of TASKS tasks that take a while, and one of few key groups."""
    source = spark_cluster.session.readStream.format("rate-micro-batch").option("rowsPerBatch", TASKS)
    rows = source.option("numPartitions", TASKS).load()
    naps = F.expr(f"reflect('java.lang.Thread', 'sleep', cast({NAP_MS} as bigint))")
    counts = rows.withColumn("napped", naps).where("napped is null").groupBy((F.col("value") % 40).alias("k")).count()
    writer = counts.writeStream.outputMode("update").format("noop")
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    yield query
    query.stop()


def rests(watch: Any) -> int:
    return int(watch.bridge.diagnostics()[1]["gathered"])


def ended(watch: Any, query: Any, batch: int) -> None:
    """Waits for the end of that batch, drained by then."""
    watch.cluster.wait_until(lambda: watch._has(str(query.id), batch), f"batch {batch}", WAIT_S)


def test_events_of_a_long_stage_come_together_but_none_waits_while_key_groups_move(watch: Any, query: Any) -> None:
    ended(watch, query, 2)  # as long as owners of its first batches are given
    before = rests(watch)
    ended(watch, query, watch.batches[str(query.id)] + 2)
    assert rests(watch) > before
    moved = watch.move_all(query, dict.fromkeys(watch.seen[str(query.id)], watch.executors()[0]))
    before, last = rests(watch), watch.batches[str(query.id)]
    ended(watch, query, last + 1)
    assert rests(watch) - before <= 1, "the one that slept when they began to move"
    ended(watch, query, last + 4)
    assert rests(watch) > before + 1
    assert {key: watch.seen[str(query.id)][key] for key in moved} == moved
    assert watch.failed_tasks == 0
    assert not watch.bridge.diagnostics()[0], "faults"


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
