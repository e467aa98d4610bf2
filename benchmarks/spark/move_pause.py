"""What one move costs the moved key group: extra seconds of its first task on the new executor, by state size.

    python benchmarks/spark/move_pause.py [--sizes-mb 1,50,200] [--moves 6] [--out out/benchmarks]

Builds state of about 1 KB a row in four key groups, then moves one group at a time and compares the first task after
the move with the median of the same group's tasks before it. Local disk, page cache warm: a remote checkpoint adds the
state's bytes over its bandwidth.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import statistics
import tempfile
from typing import Any

from runs import ROCKSDB, stamp

HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
PROVIDERS = {"hdfs": (HDFS, "false"), "rocksdb": (ROCKSDB, "false"), "rocksdb-changelog": (ROCKSDB, "true")}
PARTITIONS = 4
ROWS_PER_BATCH = 50_000
QUIET_BATCHES = 5


def session() -> Any:
    """Two executors with room for the state, and the agent's settings."""
    from pyspark.sql import SparkSession

    from streamjob_agent.spark import recommended_settings

    builder = SparkSession.builder.master("local-cluster[2,1,3072]").appName("move-pause")
    settings = {
        **recommended_settings(),
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.memory": "3g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def start(spark: Any, rows: int, checkpoint: str) -> Any:
    """A query that first fills `rows` keys with 1 KB each, then touches only the first hundred."""
    from pyspark.sql import functions as F

    key = F.when(F.col("value") < rows, F.col("value")).otherwise(F.col("value") % 100)
    payload = F.concat(*[F.sha2((F.col("value") + i).cast("string"), 512) for i in range(8)])
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS_PER_BATCH).load()
    small = stream.where((F.col("value") < rows) | (F.col("value") % 500 == 0))
    counted = small.select(key.alias("k"), payload.alias("x")).groupBy("k").agg(F.max("x"), F.count("*"))
    writer = counted.writeStream.outputMode("update").format("noop").option("checkpointLocation", checkpoint)
    return writer.start()


class Watch:
    """Busy seconds of each key group's newest batch, and where it ran."""

    def __init__(self, bridge: Any) -> None:
        self.bridge = bridge

    def next_batch(self) -> dict[Any, Any]:
        """Group -> usage of one batch; waits for it, at most two minutes."""
        for _ in range(240):
            self.bridge.wait_for_boundary(0.5)
            usage = self.bridge.drain()
            found = {group.key: group for groups in usage.groups.values() for group in groups}
            if usage.batches and len(found) == PARTITIONS:  # a drain between two stages' ends sees part of a batch
                return found
        raise RuntimeError("no batch within two minutes")


def measure(spark: Any, bridge: Any, query: Any, megabytes: int, moves: int) -> dict[str, object]:
    """Build the state, then move groups round-robin; pauses in seconds."""
    watch = Watch(bridge)
    rows = megabytes * 1000 * PARTITIONS
    while (query.lastProgress or {"batchId": -1})["batchId"] < rows / ROWS_PER_BATCH + 3:
        watch.next_batch()
    pauses = [one_move(bridge, query, watch, turn) for turn in range(moves)]
    sizes = bridge.state_bytes(str(query.id)).values()
    return {
        "state_mb": round(sum(sizes) / len(sizes) / 1e6, 1),
        "pause_median_s": round(statistics.median(pauses), 3),
        "pause_min_s": round(min(pauses), 3),
        "pause_max_s": round(max(pauses), 3),
        "moves": moves,
    }


def one_move(bridge: Any, query: Any, watch: Watch, turn: int) -> float:
    """Extra seconds of the moved group's first task on its new executor."""
    before = [watch.next_batch() for _ in range(QUIET_BATCHES)]
    key = sorted(before[-1])[turn % PARTITIONS]
    home = before[-1][key].executor_id
    target = next(executor for executor in bridge.executors() if executor.executor_id != home)
    usual = statistics.median(batch[key].busy_s / batch[key].tasks for batch in before)
    bridge.place(str(query.id), {key: target})
    for _ in range(5):
        group = watch.next_batch()[key]
        if group.executor_id == target.executor_id:
            return float(group.busy_s - usual * group.tasks)
    raise RuntimeError(f"{key} did not move to executor {target.executor_id} within five batches")


def main() -> None:
    """Parse, measure every provider and size, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes-mb", default="1,50,200")
    parser.add_argument("--providers", default=",".join(PROVIDERS))
    parser.add_argument("--moves", type=int, default=6)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    from streamjob_agent.spark import connect

    spark = session()
    spark.sparkContext.setLogLevel("FATAL")
    bridge = connect(spark)
    rows = []
    print(f"{'state store':18} {'MB a group':>10} {'pause median':>12} {'min .. max s':>18}")
    for name in args.providers.split(","):
        for size in args.sizes_mb.split(","):
            row = {"provider": name, **one_case(spark, bridge, name, int(size), args.moves)}
            rows.append(row)
            span = f"{row['pause_min_s']} .. {row['pause_max_s']}"
            print(f"{name:18} {row['state_mb']:>10} {row['pause_median_s']:>12} {span:>18}", flush=True)
            (args.out / "move_pause.json").write_text(json.dumps({"at": stamp(), "rows": rows}, indent=1))
    bridge.close()
    spark.stop()


def one_case(spark: Any, bridge: Any, name: str, megabytes: int, moves: int) -> dict[str, object]:
    """One state store and size, in a checkpoint of its own."""
    provider, changelog = PROVIDERS[name]
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
    spark.conf.set("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", changelog)
    folder = tempfile.mkdtemp(prefix="move-pause-")
    query = start(spark, megabytes * 1000 * PARTITIONS, folder)
    try:
        return measure(spark, bridge, query, megabytes, moves)
    finally:
        query.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
