"""How many of the benchmark job's loops this machine does in a millisecond, with every core at it.

    python benchmarks/spark/calibrate.py

Prints the number for `compare.py --loops-per-ms`: the median of several rounds in which each of the cores has one task
of its own, in executors that are set up as the comparison's.
"""

from __future__ import annotations

import argparse
import statistics
import time

from job import work
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from runs import CALM

ROUNDS, ROWS, LOOPS = 7, 20, 40_000


def main() -> None:
    """Run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=2)
    slots = parser.parse_args().slots
    builder = SparkSession.builder.master(f"local-cluster[{slots},1,1024]").appName("calibrate")
    settings = {
        "spark.driver.extraJavaOptions": CALM,
        "spark.executor.extraJavaOptions": CALM,
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    seconds = [_round(spark, slots, loops) for loops in [LOOPS, 0] * ROUNDS]
    worked = [busy - idle for busy, idle in zip(seconds[2::2], seconds[3::2], strict=True)]  # the first one warms up
    spark.stop()
    print(f"{ROWS * LOOPS / (1000 * statistics.median(worked)):.0f}")


def _round(spark: SparkSession, slots: int, loops: int) -> float:
    """Seconds of a job in which each slot has one task of ROWS rows of `loops` loops."""
    rows = spark.range(0, slots * ROWS, 1, slots).withColumn("loops", F.lit(loops) + F.col("id") * 0)
    started_s = time.perf_counter()
    rows.select(F.expr(work("cpu", "loops", 1.0)).alias("x")).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started_s


if __name__ == "__main__":
    main()
