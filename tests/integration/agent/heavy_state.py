"""A job whose state lies on the heap: per key the longest text of `size` letters, and tasks that sleep `ms` for a key.

Two executors of one slot and a heap of 256 MiB, three key groups, until a file named `stop` appears.
"""

import json
import pathlib
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

folder, executors = pathlib.Path(sys.argv[1]), sys.argv[2]
spark = (
    SparkSession.builder.master(f"local-cluster[{executors},1,512]")
    .config("spark.executor.memory", "256m")
    .config("spark.testing.reservedMemory", str(100 * 1024**2))  # else Spark asks for a larger heap
    .config("spark.executor.extraJavaOptions", "-XX:+UseG1GC -XX:G1HeapRegionSize=4m")  # two rows of 1.9 MB each
    .config("spark.executor.heartbeatInterval", "2s")
    .config("spark.sql.shuffle.partitions", "3")
    .config(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    )
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("FATAL")
store = spark.sparkContext._jsc.sc().statusStore()
stream = spark.readStream.schema("k long, size int, ms long").option("maxFilesPerTrigger", 1)
longest = (
    stream.csv(str(folder / "input"))
    .groupBy("k")
    .agg(F.max(F.expr("repeat('x', size)")).alias("text"), F.max("ms").alias("ms"))
    .select("k", F.length("text"), F.expr("reflect('java.lang.Thread', 'sleep', ms)"))
)
query = (
    longest.writeStream.outputMode("update")
    .format("noop")
    .option("checkpointLocation", str(folder / "checkpoint"))
    .start()
)
while not (folder / "stop").exists():
    query.awaitTermination(1)
query.processAllAvailable()
query.stop()
summaries = store.executorList(False)
failed = sum(summaries.apply(i).failedTasks() for i in range(summaries.size()))
(folder / "result.json").write_text(json.dumps({"failed_tasks": failed}))
spark.stop()
