"""A real query under the standalone loop: its statistics period is never over, so whatever cycle comes was woken."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pyspark.sql import functions as F

from streamjob_operator.events import EventKind
from streamjob_operator.ports import Ports
from streamjob_operator.standalone.runner import Runner
from streamjob_operator.values import CycleRecord
from streamjob_operator.waking.cadence import Seen

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


class Work:
    """One key per key group, and milliseconds that its task takes: a file has all of them, and is one batch."""

    def __init__(self, session: Any, folder: pathlib.Path, keys: list[int]) -> None:
        self._session, self._folder, self._keys = session, folder, keys
        self._files = 0
        self.hot = False
        (folder / "input").mkdir()

    def start(self) -> Any:
        """The query."""
        frame = self._session.readStream.schema("key long, ms long").option("maxFilesPerTrigger", 1)
        longest = frame.csv(str(self._folder / "input")).groupBy("key").agg(F.last("ms").alias("ms"))
        worked = longest.select(F.expr("reflect('java.lang.Thread', 'sleep', ms)").alias("slept"))
        writer = worked.writeStream.outputMode("update").format("noop")
        return writer.option("checkpointLocation", str(self._folder / "checkpoint")).start()

    def keep_up(self, seen: Seen) -> None:
        """Two files ahead of the query, so that a shift of load comes soon."""
        queries = () if seen.status is None else seen.status.queries
        done = max((one.batch_id or 0 for one in queries), default=0)
        while self._files < done + 3:
            lines = [f"{key},{900 if self.hot and at < 2 else 50 + 10 * at}" for at, key in enumerate(self._keys)]
            draft = self._folder / "draft"
            draft.write_text("\n".join(lines) + "\n")
            draft.rename(self._folder / "input" / f"{self._files:05d}.csv")
            self._files += 1


def test_a_load_that_shifts_wakes_a_cycle(
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
        work.hot = True
        while EventKind.LOAD_CHANGED not in heard.kinds:
            yield False
        yield True

    def watch() -> bool:
        work.keep_up(one.metrics.seen)
        return next(steps, True)

    work, told, steps = Work(spark_cluster.session, tmp_path, keys), [], story()
    work.keep_up(one.metrics.seen)
    running = work.start()
    try:
        with one.metrics:
            Runner(
                ports=ports,
                job=one.job,
                watch=watch,
                tell=told.append,
                look=lambda: one.metrics.seen,
                duration_s=LONGEST_S,
                rng=np.random.default_rng(7),
            ).run()
    finally:
        running.stop()
    assert told == []
    assert EventKind.LOAD_CHANGED in heard.kinds, [(one.woken, one.verdict.reason) for one in heard.records]
    assert all(record.woken for record in heard.records[1:])  # the clock's is the first alone
