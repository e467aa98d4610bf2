"""The benchmark's streaming job: plain PySpark, knows nothing of StreamJob.

One stateful aggregation; each batch brings every key once and does a fixed amount of work in the stateful stage, either
computing or waiting, so batch durations can be compared between placements.
"""

from __future__ import annotations

import json
import pathlib
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def work(kind: str, cost: str) -> str:
    """SQL that spends `cost` milliseconds in the stateful stage: a sleep, or a loop of hashes."""
    if kind == "wait":
        return f"reflect('java.lang.Thread', 'sleep', cast({cost} as bigint))"
    return f"aggregate(sequence(1, cast({cost} * {LOOPS_PER_MS} as int)), 0L, (a, x) -> xxhash64(a, x))"


LOOPS_PER_MS = 2000


def keys_by_partition(spark: SparkSession, partitions: int, per_partition: int) -> list[list[int]]:
    """Keys 0.. sorted by the partition that Spark's hash partitioning gives them."""
    ids = spark.range(partitions * per_partition * 8).select("id", F.expr(f"pmod(hash(id), {partitions}) as p"))
    found: list[list[int]] = [[] for _ in range(partitions)]
    for row in ids.collect():
        if len(found[row.p]) < per_partition:
            found[row.p].append(row.id)
    return found


def main(config_path: str) -> None:
    """Run until the wanted number of batches is done; write the progress of each batch as one JSON line."""
    config = json.loads(pathlib.Path(config_path).read_text())
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    partitions, per_partition = config["partitions"], config["keys_per_partition"]
    keys = keys_by_partition(spark, partitions, per_partition)
    flat = [key for row in keys for key in row]
    rows_per_batch = len(flat)
    phase_rows = rows_per_batch * config["batches_per_phase"]
    costs = [[ms / per_partition for ms in row] for row in config["group_ms"]]
    table = spark.createDataFrame(
        [
            (i, key, p, [phase[p] for phase in costs])
            for i, (p, key) in enumerate((p, k) for p, r in enumerate(keys) for k in r)
        ],
        "i long, key long, p int, costs array<double>",
    )
    stream = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", rows_per_batch)
        .option("numPartitions", 2)
        .load()
        .select((F.col("value") % rows_per_batch).alias("i"), "value")
        .join(F.broadcast(table), "i")
    )
    counted = stream.groupBy("key").agg(
        F.count("*").alias("n"), F.max("value").alias("last"), F.first("costs").alias("costs")
    )
    phase = f"cast(floor(last / {phase_rows}) % {len(costs)} + 1 as int)"
    done = counted.select("key", "n", F.expr(work(config["work"], f"element_at(costs, {phase})")).alias("work"))
    query = (
        done.writeStream.outputMode("update").format("noop").option("checkpointLocation", config["checkpoint"]).start()
    )
    seen = -1
    with open(config["progress"], "w") as out:
        while query.isActive and seen + 1 < config["batches"]:
            query.awaitTermination(0.2)
            for progress in query.recentProgress:
                if progress["batchId"] > seen:
                    seen = progress["batchId"]
                    print(progress.json if hasattr(progress, "json") else json.dumps(progress), file=out, flush=True)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
