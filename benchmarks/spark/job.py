"""The benchmark's streaming job: plain PySpark, knows nothing of StreamJob.

One stateful aggregation. Each batch brings every working key once, whose row does a fixed amount of work in the
stateful stage, either computing or waiting; and rows with a payload for other keys, so that every key group holds real
state. Nothing but that stage costs much, so batch durations can be compared between placements.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F


def work(kind: str, cost_ms: str, loops_per_ms: float) -> str:
    """SQL that spends `cost_ms` in the stateful stage: a sleep, or a loop of hashes."""
    if kind == "wait":
        return f"if({cost_ms} >= 1, reflect('java.lang.Thread', 'sleep', cast({cost_ms} as bigint)), '')"
    loops = f"cast({cost_ms} * {loops_per_ms} as int)"
    return f"if({loops} >= 1, aggregate(sequence(1, {loops}), 0L, (a, x) -> xxhash64(a, x)), 0L)"


def working_keys(spark: SparkSession, partitions: int, per_partition: int) -> list[int]:
    """The first keys that Spark's hash partitioning gives to each partition, all partitions together."""
    ids = spark.range(partitions * per_partition * 8).select("id", F.expr(f"pmod(hash(id), {partitions}) as p"))
    found: list[list[int]] = [[] for _ in range(partitions)]
    for row in ids.collect():
        if len(found[row.p]) < per_partition:
            found[row.p].append(row.id)
    return [key for keys in found for key in keys]


def stream(spark: SparkSession, config: dict[str, Any]) -> DataFrame:
    """Rows (key, payload, batch): working keys have a key of 0 or more, the others are negative."""
    keys = working_keys(spark, config["partitions"], config["keys_per_partition"])
    rows = len(keys) + config["state_rows"]
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows).option("numPartitions", 2).load()
    at, value = F.col("value") % rows, F.col("value")
    known = F.element_at(F.array(*[F.lit(key).cast("long") for key in keys]), (at + 1).cast("int"))
    other = -1 - F.pmod(F.xxhash64(value), F.lit(config["state_keys"]))
    payload = F.concat(*[F.sha2((value + i).cast("string"), 512) for i in range(8)])  # about 1 KB
    working = at < len(keys)
    return source.select(
        F.when(working, known).otherwise(other).alias("key"),
        F.when(~working, payload).alias("payload"),
        F.floor(value / rows).alias("batch"),
    )


def cost_ms(config: dict[str, Any]) -> Column:
    """Milliseconds of a working key in the batch `last`; the first batches are light, as those of a new job are."""
    per_key = [[ms / config["keys_per_partition"] for ms in row] for row in config["group_ms"]]
    table = F.array(*[F.array(*[F.lit(float(ms)) for ms in row]) for row in per_key])
    phase = (F.floor(F.col("last") / config["batches_per_phase"]) % len(per_key) + 1).cast("int")
    partition = F.expr(f"cast(pmod(hash(key), {config['partitions']}) + 1 as int)")
    cost = F.element_at(F.element_at(table, phase), partition)
    light = F.when(F.col("last") < config["light_batches"], F.lit(config["light_ratio"])).otherwise(1.0)
    return F.when(F.col("key") >= 0, cost * light).otherwise(0.0)


def main(config_path: str) -> None:
    """Run until the wanted number of batches is done; write the progress of each batch as one JSON line."""
    config = json.loads(pathlib.Path(config_path).read_text())
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    counted = stream(spark, config).groupBy("key")
    counted = counted.agg(F.count("*").alias("n"), F.max("payload").alias("payload"), F.max("batch").alias("last"))
    done = counted.withColumn("cost_ms", cost_ms(config))
    done = done.select("key", "n", F.expr(work(config["work"], "cost_ms", config["loops_per_ms"])).alias("work"))
    writer = done.writeStream.outputMode("update").format("noop")
    query = writer.option("checkpointLocation", config["checkpoint"]).start()
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
