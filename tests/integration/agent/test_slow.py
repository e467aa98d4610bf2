"""An executor of a real Spark that becomes slow: the controller learns it, plans for it, and trusts it again."""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as F

from streamjob_agent.wire import AgentStatus
from streamjob_operator.steps.speeds import sentences, summary, unequal
from streamjob_operator.values import CycleRecord

pytestmark = pytest.mark.spark
PARTITIONS, EXECUTORS = 9, 3
TASK_MS, TIMES = 450, 3
QUIET = 14
"""Batches before it becomes slow: the job is warm by then, and what is usual is known."""
SOON = 8
"""Batches within which each step is seen, where two or three are the aim: a busy machine makes batches unlike."""
SLOW = 0.7
"""Speed below which it is the slow one: that sleeps three times as long, while on a busy machine another is at 0.87."""
EXECUTOR = "substring_index(reflect('java.lang.System', 'getProperty', 'user.dir'), '/', -1)"
"""An executor's working directory is named by its id."""


class Even:
    """One key per key group, whose task sleeps, and longer on an executor that a file names. A file is one batch."""

    def __init__(self, session: Any, folder: pathlib.Path, keys: list[int], sink: Any) -> None:
        self.slow = ""
        self.files = 0
        self._folder, self._keys = folder, keys
        (folder / "input").mkdir()
        frame = session.readStream.schema("key long, slow string").option("maxFilesPerTrigger", 1)
        rows = frame.csv(str(folder / "input")).groupBy("key")
        counted = rows.agg(F.count("*").alias("n"), F.last("slow").alias("slow"))
        slept_ms = f"cast(if(slow = {EXECUTOR}, {TIMES}, 1) * {TASK_MS} as bigint)"
        slept = F.expr(f"reflect('java.lang.Thread', 'sleep', {slept_ms})")
        writer = counted.select("key", "n", slept.alias("slept")).writeStream.outputMode("update").foreachBatch(sink)
        self.query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()

    def batch(self) -> None:
        """One more, to its end."""
        draft = self._folder / "draft"
        draft.write_text("".join(f"{key},{self.slow or '-'}\n" for key in self._keys))
        draft.rename(self._folder / "input" / f"{self.files:05d}.csv")
        self.files += 1
        self.query.processAllAvailable()

    def held(self, status: AgentStatus) -> Counter[str | None]:
        """Key groups of each executor."""
        return Counter(status.queries[0].owners.get(0, ()))

    def bound_ms(self, status: AgentStatus) -> int:
        """What the slowest executor's key groups sleep in a batch."""
        return max(
            count * TASK_MS * (TIMES if name == self.slow else 1) for name, count in self.held(status).items() if name
        )


def slow_ones(record: CycleRecord) -> set[str]:
    """Executors that the controller plans for as slow, by more than what else the machine does makes them."""
    paces = {} if record.memory is None else unequal(record.memory)
    return {one for one, pace in paces.items() if pace.speed < SLOW}


def test_an_executor_that_becomes_slow_is_relieved_and_trusted_again(
    spark_cluster: Any,
    tmp_path: pathlib.Path,
    install: Callable[[Any], Any],
    brain: Any,
    spark_hash: Any,
    collected: Any,
) -> None:
    agent = install(spark_cluster.session)
    session = spark_cluster.session.newSession()
    session.conf.set("spark.sql.shuffle.partitions", str(PARTITIONS))
    keys = [next(iter(spark_hash.keys_of(partition, PARTITIONS))) for partition in range(PARTITIONS)]
    work = Even(session, tmp_path, keys, collected)
    even_ms, relieved_ms = PARTITIONS // EXECUTORS * TASK_MS, 4 * TASK_MS
    try:
        controller = brain(agent, "{mode: Auto, statisticsPeriod: 6s, migrationBudget: {maxCost: 1h}}")
        controller.until("it is quiet and even", lambda _: settled(work, agent, even_ms), work.batch)
        work.slow = min(name for name in work.held(agent.status()) if name)
        turned = work.files
        known = controller.until("it is known", lambda now: work.slow in slow_ones(now), work.batch)
        assert work.files - turned <= SOON
        assert any(one.startswith(f"Executor {work.slow} works at 0.") for one in sentences(known.memory))
        assert summary(known.memory).startswith(f"{work.slow} at 0.")
        assert f"Executor {work.slow} works at 0." in known.verdict.message
        controller.until("the others help", lambda _: work.bound_ms(agent.status()) <= relieved_ms, work.batch)
        assert work.files - turned <= 2 * SOON

        recovered, work.slow = work.slow, ""
        turned = work.files
        controller.until("it is trusted", lambda now: recovered not in slow_ones(now), work.batch)
        assert work.files - turned <= SOON
        controller.until("it has its part", lambda _: work.bound_ms(agent.status()) <= even_ms, work.batch)
        assert work.files - turned <= 2 * SOON
        assert {key: row[0] for key, row in collected.rows.items()} == dict.fromkeys(keys, work.files)
        assert agent.failed_tasks() == 0
    finally:
        work.query.stop()


def settled(work: Even, agent: Any, bound_ms: int) -> bool:
    """Whether enough batches have ended and the key groups are spread evenly."""
    return work.files >= QUIET and work.bound_ms(agent.status()) == bound_ms
