"""What one move costs the moved key group: extra seconds of its first task on the new executor, by state size.

    python benchmarks/spark/move_pause.py [--providers hdfs,rocksdb] [--sizes-mb 1,50,200] [--moves 6] [--checkpoint s3]
        [--maintenance-s 60] [--operator sums] [--not-ahead]

Builds state of about 1 KB a row in four key groups, then moves one group at a time and compares the first task after
the move with the median of the same group's tasks before it, and when it soon comes back. Each finished case is
appended to OUT/move_pause.jsonl; a case that is there is not run again. `--checkpoint local` is a local disk, its page
cache warm; `s3` an object store on loopback (`make object-store`), 50 ms and 50 MB/s away. `--maintenance-s` is how
often Spark uploads snapshots of what changed: a load replays all changes since the newest one. `--operator` is what has
the state: `sums` by key, a `join` in format 3 or `python`'s lists (`transformWithStateInPandas`). The latter two have
column families, which only RocksDB can. With `--not-ahead` the moved group's first task loads its state, as where
executors can open nothing ahead of it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import sys
import tempfile
import unittest.mock
from collections.abc import Iterator, Mapping
from typing import Any

from runs import FILES, ROCKSDB, stamp
from table import figure

HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
PROVIDERS = {"hdfs": (HDFS, "false"), "rocksdb": (ROCKSDB, "false"), "rocksdb-changelog": (ROCKSDB, "true")}
PLACES = ("local", "s3")
"""Where checkpoints are."""
OPERATORS = ("sums", "join", "python")
"""What has the state."""
PARTITIONS = 4
ROWS_PER_BATCH = 50_000
QUIET_BATCHES = 5
RUNS = "move_pause.jsonl"
NAMED = ("operator", "provider", "checkpoint", "maintenance_s", "ahead", "state_mb")
"""What tells rows of the table apart."""
MAINTENANCE_S = 60
"""Spark's default."""


def session(conf: Mapping[str, str]) -> Any:
    """Two executors with room for the state, the agent's settings, and those of the checkpoint's place."""
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
        **conf,
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def start(spark: Any, operator: str, rows: int, checkpoint: str) -> Any:
    """A query that first fills state with `rows` times 1 KB, then touches only the first hundred keys."""
    from pyspark.sql import functions as F

    key = F.when(F.col("value") < rows, F.col("value")).otherwise(F.col("value") % 100)
    payload = F.concat(*[F.sha2((F.col("value") + i).cast("string"), 512) for i in range(8)])
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS_PER_BATCH).load()
    small = stream.where((F.col("value") < rows) | (F.col("value") % 500 == 0))
    keyed = small.select(key.alias("k"), payload.alias("x"))
    if operator == "join":
        frame, mode = keyed.join(keyed.where("k < 100").select((-1 - F.col("k")).alias("k")), "k"), "append"
    elif operator == "python":
        frame, mode = lists(keyed), "update"
    else:
        frame, mode = keyed.groupBy("k").agg(F.max("x"), F.count("*")), "update"
    return frame.writeStream.outputMode(mode).format("noop").option("checkpointLocation", checkpoint).start()


def lists(keyed: Any) -> Any:
    """A list of all texts for each of four hundred keys, kept in Python."""
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Lists(StatefulProcessor):  # type: ignore[misc]
        def init(self, handle: Any) -> None:
            self.texts = handle.getListState("texts", "x string")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timers: Any) -> Iterator[Any]:  # noqa: N802 - theirs
            for frame in rows:
                self.texts.appendList([(text,) for text in frame["x"]])
                yield frame[:0][["x"]]

        def close(self) -> None:
            pass

    grouped = keyed.withColumn("k", keyed["k"] % 400).groupBy("k")
    return grouped.transformWithStateInPandas(Lists(), "x string", "Update", "None")


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
    """Build the state, then move groups round-robin, each there and soon back; pauses in seconds."""
    watch = Watch(bridge)
    rows = megabytes * 1000 * PARTITIONS
    while (query.lastProgress or {"batchId": -1})["batchId"] < rows / ROWS_PER_BATCH + 3:
        watch.next_batch()
    pauses, pauses_back = zip(*(there_and_back(bridge, query, watch, turn) for turn in range(moves)), strict=True)
    sizes = bridge.state_bytes(str(query.id)).values()
    return {
        "state_mb": round(sum(sizes) / len(sizes) / 1e6, 1),
        "pauses_s": [round(pause, 3) for pause in pauses],
        "pauses_back_s": [round(pause, 3) for pause in pauses_back],
    }


def there_and_back(bridge: Any, query: Any, watch: Watch, turn: int) -> tuple[float, float]:
    """Extra seconds of a group's first task on its new executor, and on the old one when it comes back soon.

    The old one still has what it held a few batches ago, as if the state had been loaded there before the move.
    """
    before = [watch.next_batch() for _ in range(QUIET_BATCHES)]
    key = sorted(before[-1])[turn % PARTITIONS]
    usual = statistics.median(batch[key].busy_s / batch[key].tasks for batch in before)
    executors = {one.executor_id: one for one in bridge.look().executors}
    home = executors[before[-1][key].executor_id]
    away = next(one for name, one in executors.items() if name != home.executor_id)
    there = one_move(bridge, query, watch, (key, away), usual)
    watch.next_batch()
    return there, one_move(bridge, query, watch, (key, home), usual)


def one_move(bridge: Any, query: Any, watch: Watch, move: tuple[Any, Any], usual: float) -> float:
    """Extra seconds of the moved group's first task on its new executor."""
    key, target = move
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
    parser.add_argument("--checkpoint", choices=PLACES, default="local")
    parser.add_argument("--maintenance-s", type=int, default=MAINTENANCE_S)
    parser.add_argument("--operator", choices=OPERATORS, default="sums")
    parser.add_argument("--not-ahead", dest="ahead", action="store_false")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # executors' Python is the driver's
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    path = args.out / RUNS
    where = {name: getattr(args, name) for name in ("checkpoint", "maintenance_s", "operator", "ahead")}
    have = {(one["provider"], one["megabytes"]) for one in read_cases(path) if where.items() <= one.items()}
    cases = [(name, int(size)) for name in args.providers.split(",") for size in args.sizes_mb.split(",")]
    if wanted := [one for one in cases if one not in have]:
        measure_all(wanted, args.moves, path, where)
    print_report(rows_of(args.out))


def measure_all(cases: list[tuple[str, int]], moves: int, path: pathlib.Path, where: Mapping[str, Any]) -> None:
    """Measure each provider and size in one session, append what was found; `where`: what all of them have alike."""
    operator = where["operator"]
    with checkpoints(where["checkpoint"]) as (conf, folder):
        spark = session({**conf, "spark.sql.streaming.stateStore.maintenanceInterval": f"{where['maintenance_s']}s"})
        spark.sparkContext.setLogLevel("FATAL")
        bridge = connected(spark, ahead=where["ahead"])
        try:
            for name, megabytes in cases:
                found = one_case(spark, bridge, (operator, name, megabytes), moves, f"{folder}/{name}-{megabytes}")
                case = {"provider": name, "megabytes": megabytes}
                with path.open("a") as file:
                    file.write(json.dumps({"at": stamp(), **where, **case, **found}) + "\n")
        finally:
            bridge.close()
            spark.stop()


def connected(spark: Any, *, ahead: bool) -> Any:
    """The bridge; without `ahead` the class that opens state ahead of a move is never offered to executors."""
    from streamjob_agent.spark import connect, driver

    if ahead:
        return connect(spark)
    with unittest.mock.patch.object(driver, "compile_opening", side_effect=RuntimeError("left out by --not-ahead")):
        return connect(spark)


@contextlib.contextmanager
def checkpoints(place: str) -> Iterator[tuple[Mapping[str, str], str]]:
    """Spark's settings for a place of checkpoints, and a folder there; both end with it."""
    if place == "local":
        with tempfile.TemporaryDirectory(prefix="move-pause-", ignore_cleanup_errors=True) as folder:
            yield FILES, folder
        return
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))  # benchmarks are in no wheel
    from benchmarks.object_store.store import BUCKET, Distance, object_store, spark_conf

    with object_store(Distance()) as address:
        yield spark_conf(address), f"s3a://{BUCKET}"


def read_cases(path: pathlib.Path) -> list[dict[str, Any]]:
    """Every finished case of the file, none when there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def rows_of(out: pathlib.Path) -> list[dict[str, Any]]:
    """The figures of every case that was run."""
    return [
        {
            **{name: one[name] for name in NAMED},
            "pause_median_s": round(statistics.median(one["pauses_s"]), 3),
            "pause_s": figure(one["pauses_s"]),
            "back_median_s": round(statistics.median(one["pauses_back_s"]), 3),
        }
        for one in read_cases(out / RUNS)
    ]


def print_report(rows: list[dict[str, Any]]) -> None:
    """The table in Markdown."""
    print(
        "| state of | state store | checkpoint | snapshots each, s | opened ahead | MB to load a group "
        "| pause, median s | mean s | spread s | moves | back, median s |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for one in rows:
        pause = one["pause_s"]
        where = " | ".join(str(one[name]) for name in NAMED)
        seconds = f"{one['pause_median_s']:.2f} | {pause['mean']:.2f} | {pause['spread']:.2f} | {pause['trials']}"
        print(f"| {where} | {seconds} | {told(one.get('back_median_s'))} |")


def told(seconds: float | None) -> str:
    """Seconds for a cell, empty where they were not measured."""
    return "" if seconds is None else f"{seconds:.2f}"


def one_case(spark: Any, bridge: Any, case: tuple[str, str, int], moves: int, checkpoint: str) -> dict[str, object]:
    """One operator, state store and size in megabytes, in a checkpoint of its own."""
    operator, name, megabytes = case
    provider, changelog = PROVIDERS[name]
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
    spark.conf.set("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", changelog)
    spark.conf.set("spark.sql.streaming.join.stateFormatVersion", "3")
    query = start(spark, operator, megabytes * 1000 * PARTITIONS, checkpoint)
    try:
        return measure(spark, bridge, query, megabytes, moves)
    finally:
        query.stop()


if __name__ == "__main__":
    main()
