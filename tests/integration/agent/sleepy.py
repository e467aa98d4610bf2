"""A job whose key groups take as long as their rows say: the values of a key are milliseconds to sleep, added up.

Counts and sums per key over files, with eight key groups, until a file named `stop` appears.
"""

import json
import pathlib
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

folder, executors = pathlib.Path(sys.argv[1]), sys.argv[2]
spark = (
    SparkSession.builder.master(f"local-cluster[{executors},1,1024]")
    .config("spark.sql.shuffle.partitions", "8")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("FATAL")
store = spark.sparkContext._jsc.sc().statusStore()
while store.executorList(True).size() < int(executors) + 1:
    time.sleep(0.2)

totals = {}


def keep(frame, batch_id):
    """The newest totals of each key that changed."""
    totals.update({row["k"]: [row["n"], row["s"]] for row in frame.collect()})


stream = spark.readStream.schema("k long, v long").option("maxFilesPerTrigger", 1).csv(str(folder / "input"))
counted = stream.groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("s"), F.last("v").alias("ms"))
query = (
    counted.select("k", "n", "s", F.expr("reflect('java.lang.Thread', 'sleep', ms)").alias("slept"))
    .writeStream.outputMode("update")
    .foreachBatch(keep)
    .option("checkpointLocation", str(folder / "checkpoint"))
    .start()
)
while not (folder / "stop").exists():
    query.awaitTermination(1)
query.processAllAvailable()
query.stop()
summaries = store.executorList(False)
failed = sum(summaries.apply(i).failedTasks() for i in range(summaries.size()))
(folder / "result.json").write_text(json.dumps({"totals": totals, "failed_tasks": failed}))
spark.stop()
