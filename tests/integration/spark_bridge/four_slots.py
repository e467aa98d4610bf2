"""One executor with four slots, eight key groups that sleep: prints what two batches measured, as JSON."""

from __future__ import annotations

import json
import pathlib
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from streamjob_agent.spark import connect

folder = pathlib.Path(sys.argv[1])
session = (
    SparkSession.builder.master("local[4]")
    .config("spark.sql.shuffle.partitions", "8")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
session.sparkContext.setLogLevel("FATAL")
bridge = connect(session)
(folder / "input").mkdir()
for number in range(2):
    (folder / "input" / f"{number}.csv").write_text("".join(f"k{key},1\n" for key in range(200)))
stream = session.readStream.schema("k string, v long").option("maxFilesPerTrigger", 1).csv(str(folder / "input"))
# Fifteen keys, each of which sleeps once in a batch.
sleep = F.expr("reflect('java.lang.Thread', 'sleep', cast(300 as bigint))")
counts = stream.groupBy((F.hash("k") % 8).alias("k")).agg(F.count("*").alias("n")).withColumn("slept", sleep)
query = (
    counts.writeStream.outputMode("update")
    .foreachBatch(lambda frame, _: frame.collect())
    .option("checkpointLocation", str(folder / "checkpoint"))
    .start()
)
query.processAllAvailable()
session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
usage = bridge.drain()
query.stop()
(stage,) = (one for one in usage.stages[query.id] if one.stage == "operator-0")
groups = usage.groups[query.id]
found = {
    "batches": len(usage.batches),
    "levels": {one.stage: one.level for one in usage.stages[query.id]},
    "wall_s": stage.wall_s,
    "busy_s": stage.busy_s,
    "longest_s": stage.longest_s,
    "groups_s": sum(group.busy_s for group in groups),
    "squared_s2": sum(group.moments.squared_s2 for group in groups),
    "first_tasks": sum(group.first_tasks for group in groups),
}
(folder / "found.json").write_text(json.dumps(found))
session.stop()
