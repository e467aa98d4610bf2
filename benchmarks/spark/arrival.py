"""What an executor's first batches cost: its whole share at once, or one key group first to warm it up.

    python benchmarks/spark/arrival.py [--trials 4]

Two executors with one slot each work on 12 key groups, whose work is waiting in a Python function; a third comes, takes
four of them, and leaves again. Told are the seconds that the eight batches from its coming on take, less eight settled
batches with three executors, in turns for each way. Results are appended to OUT/arrival.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time
from typing import Any

from runs import FILES, stamp
from table import figure

PARTITIONS, SHARE, KEYS, WAIT_S = 12, 4, 240, 0.01
AT_ONCE, WARM_FIRST = "at once", "one key group first"
FIRST, SETTLED = 8, 8  # batches


def session() -> Any:
    """Room for three executors, and the agent's settings."""
    from pyspark.sql import SparkSession

    from streamjob_agent.spark import recommended_settings

    settings = {
        **recommended_settings(),
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        **FILES,
    }
    builder = SparkSession.builder.master("local-cluster[3,1,1024]").appName("arrival")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def start(spark: Any, checkpoint: str) -> Any:
    """Every batch touches every key, and waits for each in the stateful stage."""
    from pyspark.sql import functions as F

    def wait(count):  # type: ignore[no-untyped-def]  # with hints Spark looks for another kind of function
        time.sleep(WAIT_S)
        return count

    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", KEYS).load()
    counted = stream.groupBy((F.col("value") % KEYS).alias("k")).agg(F.count("*").alias("n"))
    waited = counted.select("k", F.udf(wait, "long")("n").alias("n"))
    return waited.writeStream.outputMode("update").format("noop").option("checkpointLocation", checkpoint).start()


class Watch:
    """Batches one after another, with the newest owner of each key group."""

    def __init__(self, bridge: Any, query: Any) -> None:
        self.bridge, self.query, self.query_id = bridge, query, str(query.id)
        self.owners: dict[Any, str] = {}

    def batches(self, count: int) -> list[float]:
        """Seconds of the next batches."""
        found: list[float] = []
        until = time.monotonic() + 120
        while len(found) < count and time.monotonic() < until and self.query.exception() is None:
            self.bridge.wait_for_boundary(0.2)
            usage = self.bridge.drain()
            for groups in usage.groups.values():
                self.owners.update({group.key: group.executor_id for group in groups})
            found += [batch.duration_s for batch in usage.batches]
        if len(found) < count:
            raise RuntimeError(f"{count} batches did not come: {self.query.exception()}")
        return found[:count]

    def place(self, keys: list[Any], executor: Any) -> None:
        """Register key groups at an executor."""
        self.bridge.place(self.query_id, dict.fromkeys(keys, executor))

    def until_executors(self, count: int) -> None:
        """Batches go on until there are so many."""
        while len(self.bridge.look().executors) != count:
            self.batches(1)


def leave(watch: Watch, name: str) -> None:
    """Give an executor's key groups to the others, in turn, and end it."""
    others = [one for one in watch.bridge.look().executors if one.executor_id != name]
    held = sorted(key for key, owner in watch.owners.items() if owner == name)
    for at, one in enumerate(others):
        if keys := held[at :: len(others)]:
            watch.place(keys, one)
    watch.batches(4)
    watch.bridge.decommission(name)
    watch.until_executors(2)
    watch.bridge.request_executors(2)
    watch.batches(3)


def trial(watch: Watch, way: str) -> float:
    """Seconds beyond settled batches that the first ones took."""
    old = {one.executor_id for one in watch.bridge.look().executors}
    homes = sorted(old)
    even = [sorted(key for key, owner in watch.owners.items() if owner == home)[: SHARE // 2] for home in homes]
    share = [key for keys in even for key in keys]
    watch.bridge.request_executors(3)
    watch.until_executors(3)
    fresh = next(one for one in watch.bridge.look().executors if one.executor_id not in old)
    watch.place(share if way == AT_ONCE else share[:1], fresh)
    first = watch.batches(2)
    watch.place(share, fresh)
    first += watch.batches(FIRST - 2)
    settled = watch.batches(SETTLED)
    if any(watch.owners[key] != fresh.executor_id for key in share):
        raise RuntimeError("the share did not move")
    leave(watch, fresh.executor_id)
    return sum(first) - FIRST * statistics.median(settled)


def main() -> None:
    """Measure in turns, print, write."""
    from streamjob_agent.spark import connect

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # executors' Python is the driver's
    spark, folder = session(), tempfile.mkdtemp(prefix="arrival-")
    spark.sparkContext.setLogLevel("FATAL")
    bridge = connect(spark)
    query = start(spark, folder)
    lost: dict[str, list[float]] = {AT_ONCE: [], WARM_FIRST: []}
    try:
        watch = Watch(bridge, query)
        watch.batches(5)
        leave(watch, sorted(one.executor_id for one in bridge.look().executors)[-1])
        for turn in range(given.trials):
            for way in (AT_ONCE, WARM_FIRST) if turn % 2 == 0 else (WARM_FIRST, AT_ONCE):
                lost[way].append(round(trial(watch, way), 3))
                with (given.out / "arrival.jsonl").open("a") as file:
                    file.write(json.dumps({"at": stamp(), "way": way, "lost_s": lost[way][-1]}) + "\n")
    finally:
        query.stop()
        bridge.close()
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)
    for way, seconds in lost.items():
        print(f"| {way} | {statistics.median(seconds):.2f} | {figure(seconds)} |")


if __name__ == "__main__":
    main()
