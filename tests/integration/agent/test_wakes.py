"""A real query under the standalone loop: its statistics period is never over, so whatever cycle comes was woken."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pyspark.sql import functions as F

from streamjob_operator.events import EventKind
from streamjob_operator.ports import Ports
from streamjob_operator.standalone.runner import Runner
from streamjob_operator.values import CycleRecord

pytestmark = pytest.mark.spark
PARTITIONS = 8
QUIET_ROWS = 12
LONGEST_S = 180.0


class Heard:
    def __init__(self) -> None:
        self.records: list[CycleRecord] = []

    def report(self, record: CycleRecord) -> None:
        self.records.append(record)

    @property
    def kinds(self) -> set[EventKind]:
        return {event.kind for record in self.records for event in record.woken}


def query(session: Any, folder: pathlib.Path, keys: list[int]) -> Any:
    """One key per key group, each batch has all of them; once the file `hot` is there, two take far longer."""
    (folder / "input").mkdir()
    for number in range(600):
        (folder / "input" / f"{number:05d}.csv").write_text("".join(f"{key}\n" for key in keys))
    hot, heavy = str(folder / "hot"), set(keys[:2])

    @F.udf("long")
    def work(key: int, rows: int) -> int:
        time.sleep(0.8 if key in heavy and pathlib.Path(hot).exists() else 0.1)
        return rows

    frame = session.readStream.schema("key long").option("maxFilesPerTrigger", 1).csv(str(folder / "input"))
    counted = frame.groupBy("key").agg(F.count("*").alias("n")).select(work("key", "n").alias("n"))
    return (
        counted.writeStream.outputMode("update").format("noop").option("checkpointLocation", str(folder / "checkpoint"))
    )


def test_a_load_that_shifts_and_executors_that_go_and_come_wake_cycles(
    spark_cluster: Any, tmp_path: pathlib.Path, install: Callable[[Any], Any], brain: Any, spark_hash: Any
) -> None:
    agent, heard = install(spark_cluster.session), Heard()
    keys = [next(iter(spark_hash.keys_of(partition, PARTITIONS))) for partition in range(PARTITIONS)]
    one = brain(agent, '{mode: "Off", statisticsPeriod: 10m}')
    ports = Ports(metrics=one.metrics, actuator=one._ports.actuator, memory=one._ports.memory, reporters=(heard,))

    def story() -> Iterator[bool]:
        """False until it is over."""
        while (rows := one.metrics.seen.rows) is None or rows.series.ended_at_s.size < QUIET_ROWS:
            yield False
        assert heard.kinds <= {EventKind.EXECUTOR_READY}
        (tmp_path / "hot").touch()
        while not {EventKind.LOAD_CHANGED, EventKind.BATCH_OUT_OF_RANGE} <= heard.kinds:
            yield False
        spark_cluster.kill(min(spark_cluster.executor_ids()))
        while not {EventKind.EXECUTOR_GONE, EventKind.EXECUTOR_READY} <= heard.kinds:
            yield False
        yield True

    running, told, steps = query(spark_cluster.session, tmp_path, keys).start(), [], story()
    try:
        with one.metrics:
            Runner(
                ports=ports,
                job=one.job,
                watch=lambda: next(steps, True),
                tell=told.append,
                look=lambda: one.metrics.seen,
                duration_s=LONGEST_S,
                rng=np.random.default_rng(7),
            ).run()
    finally:
        running.stop()
        spark_cluster.wait_for_executors(3)
    assert told == []
    wanted = {kind.value for kind in (EventKind.LOAD_CHANGED, EventKind.BATCH_OUT_OF_RANGE, EventKind.EXECUTOR_GONE)}
    assert wanted <= heard.kinds, [(one.woken, one.verdict.reason) for one in heard.records]
    assert all(record.woken for record in heard.records[1:])  # the clock's is the first alone
