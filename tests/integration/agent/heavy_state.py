"""A job whose state lies on the heap: per key the longest text of `size` letters.

Two executors of one slot and a heap of 512 MiB, three key groups, until a file named `stop` appears.
"""

import json
import pathlib
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

folder, executors = pathlib.Path(sys.argv[1]), sys.argv[2]
spark = (
    SparkSession.builder.master(f"local-cluster[{executors},1,512]")
    .config("spark.executor.memory", "512m")
    .config("spark.memory.fraction", "0.3")  # sorts go to disk early: the heap is for state
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
stream = spark.readStream.schema("k long, size int").option("maxFilesPerTrigger", 1)
longest = (
    stream.csv(str(folder / "input"))
    .groupBy("k")
    .agg(F.max(F.expr("repeat('x', size)")).alias("text"))
    .select("k", F.length("text"))
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
