"""The benchmark's streaming job: plain PySpark, knows nothing of StreamJob.

Stateful stages one after another: aggregations, the first of which may be a join of two streams instead. Each batch
brings every working key once to every stage, where its row does a fixed amount of work, either computing or waiting;
and rows with a payload for other keys, so that every key group holds real state. Nothing but these stages costs
much, so batch durations can be compared between placements.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

STRIDE = 7  # keys of the next stage: no divisor in common with the number of keys, so each comes once


def work(kind: str, cost_ms: str, loops_per_ms: float) -> str:
    """SQL that spends `cost_ms` in the stateful stage: a sleep, many sleeps of a millisecond, or a loop of hashes."""
    if kind == "nap":  # one sleep would end in time though its process was stopped meanwhile
        nap = "(a, x) -> reflect('java.lang.Thread', 'sleep', 1L)"
        return f"if({cost_ms} >= 1, aggregate(sequence(1, cast({cost_ms} as int)), '', {nap}), '')"
    if kind == "wait":
        return f"if({cost_ms} >= 1, reflect('java.lang.Thread', 'sleep', cast({cost_ms} as bigint)), '')"
    loops = f"cast({cost_ms} * {loops_per_ms} as int)"
    return f"if({loops} >= 1, aggregate(sequence(1, {loops}), 0L, (a, x) -> xxhash64(a, x)), 0L)"


def working_keys(spark: SparkSession, partitions: int, per_partition: int) -> list[int]:
    """The first keys that Spark's hash partitioning gives to each partition, all partitions together."""
    ids = spark.range(partitions * per_partition * 12).select("id", F.expr(f"pmod(hash(id), {partitions}) as p"))
    found: list[list[int]] = [[] for _ in range(partitions)]
    for row in ids.collect():
        if len(found[row.p]) < per_partition:
            found[row.p].append(row.id)
    if min(len(keys) for keys in found) < per_partition:
        raise RuntimeError("too few keys looked at: some partition has fewer than wanted")
    return [key for keys in found for key in keys]


def key_at(keys: list[int], at: Column) -> Column:
    """The working key of a number, which may be past the last one."""
    return F.element_at(
        F.array(*[F.lit(key).cast("long") for key in keys]), (F.pmod(at, F.lit(len(keys))) + 1).cast("int")
    )


def stream(spark: SparkSession, config: dict[str, Any], keys: list[int]) -> DataFrame:
    """Rows (key, at, payload, last): working keys have a key of 0 or more and their number, the others are negative."""
    rows = len(keys) + config["state_rows"]
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows).option("numPartitions", 2).load()
    at, value = F.col("value") % rows, F.col("value")
    other = -1 - F.pmod(F.xxhash64(value), F.lit(config["state_keys"]))
    payload = F.concat(*[F.sha2((value + i).cast("string"), 512) for i in range(8)])  # about 1 KB
    working = at < len(keys)
    return source.select(
        F.when(working, key_at(keys, at)).otherwise(other).alias("key"),
        F.when(working, at).alias("at"),
        F.when(~working, payload).alias("payload"),
        F.floor(value / rows).alias("last"),
    )


def joined(left: DataFrame, right: DataFrame) -> DataFrame:
    """Rows of both streams with the same key and batch. Only the key may be equated: it decides the partition."""
    other = right.select(F.col("key").alias("other_key"), F.col("last").alias("other_last"))
    same = (F.col("key") == F.col("other_key")) & (F.abs(F.col("last") - F.col("other_last")) < 1)
    return left.join(other, same).select("key", "at", "payload", "last")


def counted(rows: DataFrame) -> DataFrame:
    """One row for each key that the batch brought."""
    latest = [F.max(name).alias(name) for name in ("at", "payload", "last")]
    return rows.groupBy("key").agg(F.count("*").alias("n"), *latest)


def cost_ms(config: dict[str, Any], group_ms: list[list[float]]) -> Column:
    """Milliseconds of a working key in the batch `last`; the first batches are light, as those of a new job are."""
    per_key = [[ms / config["keys_per_partition"] for ms in row] for row in group_ms]
    table = F.array(*[F.array(*[F.lit(float(ms)) for ms in row]) for row in per_key])
    phase = (F.floor(F.col("last") / config["batches_per_phase"]) % len(per_key) + 1).cast("int")
    partition = F.expr(f"cast(pmod(hash(key), {config['partitions']}) + 1 as int)")
    cost = F.element_at(F.element_at(table, phase), partition)
    light = F.when(F.col("last") < config["light_batches"], F.lit(config["light_ratio"])).otherwise(1.0)
    return F.when(F.col("key") >= 0, cost * light * slowness(config["slow"])).otherwise(0.0)


def slowness(slow: dict[str, Any] | None) -> Column:
    """How many times longer work takes: on one executor, in some batches. Its working directory is named by its id."""
    if slow is None:
        return F.lit(1.0)
    executor = F.substring_index(F.expr("reflect('java.lang.System', 'getProperty', 'user.dir')"), "/", -1)
    there = (executor == slow["executor"]) & F.col("last").between(slow["first"], slow["end"] - 1)
    return F.when(there, F.lit(slow["times"])).otherwise(1.0)


def worked(rows: DataFrame, config: dict[str, Any], group_ms: list[list[float]]) -> DataFrame:
    """The rows with their work done in the stage that they come from."""
    costly = rows.withColumn("cost_ms", cost_ms(config, group_ms))
    return costly.select(
        "key", "at", "payload", "last", F.expr(work(config["work"], "cost_ms", config["loops_per_ms"])).alias("work")
    )


def passed_on(done: DataFrame, keys: list[int]) -> DataFrame:
    """Rows for the next stage: every working key becomes another one. The work is looked at, or none would be done."""
    working = F.col("key") >= 0
    following = F.when(working, key_at(keys, F.col("at") * STRIDE)).otherwise(F.col("key") - 1)
    number = F.when(working, F.pmod(F.col("at") * STRIDE, F.lit(len(keys)))).otherwise(F.col("at"))
    nothing = F.when(F.col("work").cast("string") == "never", F.lit("")).otherwise(F.col("payload"))
    return done.select(following.alias("key"), number.alias("at"), nothing.alias("payload"), "last")


def query_of(spark: SparkSession, config: dict[str, Any]) -> DataFrame:
    """All stages."""
    keys = working_keys(spark, config["partitions"], config["keys_per_partition"])
    first, *others = config["levels"]
    rows = stream(spark, config, keys)
    rows = joined(rows, stream(spark, config, keys)) if config["join"] else counted(rows)
    done = worked(rows, config, first)
    for group_ms in others:
        done = worked(counted(passed_on(done, keys)), config, group_ms)
    return done  # with all columns, or Spark would keep no payload and do no work but that of the last stage


def main(config_path: str) -> None:
    """Run until the wanted number of batches is done; write the progress of each batch as one JSON line."""
    config = json.loads(pathlib.Path(config_path).read_text())
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    writer = query_of(spark, config).writeStream.outputMode("update").format("noop")
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
