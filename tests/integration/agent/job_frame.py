"""What the jobs of these tests begin and end with; they know nothing of StreamJob either."""

import json
import time

from pyspark.sql import SparkSession

COMMON = {
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # A driver of one test is too young for compiled expressions to pay; plans keep their shape.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def session(executors, memory_mib=1024, settings=()):
    """A session on so many executors of one slot, once all of them are there."""
    builder = SparkSession.builder.master(f"local-cluster[{executors},1,{memory_mib}]")
    for key, value in {**COMMON, **dict(settings)}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("FATAL")
    while _summaries(spark, active_only=True).size() < int(executors) + 1:  # and the driver
        time.sleep(0.2)
    return spark


class Totals(dict):
    """A sink of `foreachBatch`: the newest totals `n` and `s` of each key `k` that changed."""

    def __call__(self, frame, batch_id):
        self.update({row["k"]: [row["n"], row["s"]] for row in frame.collect()})


def run(query, folder, **result):
    """Until a file named `stop` appears, and then to the end of its input; the result, with how many tasks failed."""
    while not (folder / "stop").exists():
        query.awaitTermination(1)
    query.processAllAvailable()
    query.stop()
    spark = SparkSession.active()
    summaries = _summaries(spark, active_only=False)
    failed = sum(summaries.apply(i).failedTasks() for i in range(summaries.size()))
    (folder / "result.json").write_text(json.dumps({**result, "failed_tasks": failed}))
    spark.stop()


def _summaries(spark, active_only):
    return spark.sparkContext._jsc.sc().statusStore().executorList(active_only)
