"""Two executors, of which Spark excludes one once a task with state has failed there: what came of it, as JSON."""

from __future__ import annotations

import collections
import json
import pathlib
import sys
import time
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from streamjob_agent.spark import connect
from streamjob_agent.spark.settings import recommended_settings

folder = pathlib.Path(sys.argv[1])
excludes = "spark.excludeOnFailure"
settings = {
    **recommended_settings(),
    "spark.master": "local-cluster[2,1,1024]",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    f"{excludes}.enabled": "true",
    f"{excludes}.task.maxTaskAttemptsPerNode": "3",
    f"{excludes}.stage.maxFailedExecutorsPerNode": "3",
    f"{excludes}.application.maxFailedTasksPerExecutor": "1",
    f"{excludes}.application.maxFailedExecutorsPerNode": "3",
}
builder = SparkSession.builder
for key, value in settings.items():
    builder = builder.config(key, value)
session = builder.getOrCreate()
session.sparkContext.setLogLevel("FATAL")
(folder / "input").mkdir()
totals: dict[str, int] = {}
written: collections.Counter[str] = collections.Counter()


def failing(flag: str) -> Any:
    """For executors: the first of all tasks fails, where the flag stands."""

    def fail(rows: Any) -> Any:
        path = pathlib.Path(flag)
        if path.exists():
            path.unlink()
            raise ValueError("for once")
        return rows

    return fail


def keep(frame: Any, _: int) -> None:
    totals.update({row.k: row.n for row in frame.rdd.mapPartitions(failing(str(folder / "fails"))).collect()})


def run(number: int) -> dict[Any, str]:
    """One more batch, and who ran its key groups."""
    keys = [f"k{at % 50}" for at in range(200 + number)]
    written.update(keys)
    (folder / f"{number}.csv").write_text("".join(f"{key}\n" for key in keys))
    (folder / f"{number}.csv").rename(folder / "input" / f"{number}.csv")
    query.processAllAvailable()
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return {group.key: group.executor_id for group in bridge.drain().groups.get(str(query.id), ())}


def shut() -> list[str]:
    return [one.executor_id for one in bridge.look().executors if one.leaving]


until_s = time.monotonic() + 90.0
bridge = connect(session)
while len(bridge.look().executors) < 2 and time.monotonic() < until_s:
    time.sleep(0.1)
counts = session.readStream.schema("k string").csv(str(folder / "input")).groupBy("k").agg(F.count("*").alias("n"))
writer = counts.writeStream.outputMode("update").foreachBatch(keep)
query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
before = run(0)
bridge.set_locality_wait(3600.0)
(folder / "fails").touch()
run(1)  # the task that fails gets no second try on its executor
excluded = shut()
after = run(2)
tracker = session.sparkContext._jsc.sc().taskScheduler().healthTrackerOpt().get()
for executor in excluded:
    tracker.executorIdToExcludedStatus().remove(executor)  # as Spark does when its time is over
found = {
    "before": sorted(set(before.values())),
    "excluded": excluded,
    "after": sorted(set(after.values())),
    "shut_at_last": shut(),
    "rows": dict(sorted(totals.items())),
    "expected": dict(sorted(written.items())),
    "faults": sorted(bridge.diagnostics()[0]),
}
query.stop()
(folder / "found.json").write_text(json.dumps(found))
session.stop()
