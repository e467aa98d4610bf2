"""The driver's script of a run: a plain Spark job that ends after so many batches, and leaves its progress as JSON.

What is run is in a file of JSON: a real job of `jobs/`, whose input lies there, or one of `talk.SHAPES`.
"""

from __future__ import annotations

import json
import pathlib
import sys
import time
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from benchmarks.nodes import talk
from jobs.registry import find
from jobs.running import reader, start, to_files
from pyspark.sql import SparkSession

MADE = "made.json"


def main(config_path: str) -> None:
    """Run the wanted number of batches of every query."""
    config = json.loads(pathlib.Path(config_path).read_text(encoding="utf-8"))
    folder = pathlib.Path(config["folder"])
    spark = SparkSession.builder.appName(config["job"]).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    begin = _made if config["job"] in talk.SHAPES else _real
    queries = begin(spark, config, folder)
    progress = {name: _batches(query, config["batches"]) for name, query in queries.items()}
    for query in queries.values():
        query.stop()
    (folder / "progress.json").write_text(json.dumps(progress), encoding="utf-8")
    spark.stop()


def _real(spark: SparkSession, config: dict[str, Any], folder: pathlib.Path) -> dict[str, Any]:
    job = find(config["job"])
    read = reader(spark, job, folder / "input")
    return {query.name: start(query, read, folder / "run") for query in job.queries}


def _made(spark: SparkSession, config: dict[str, Any], folder: pathlib.Path) -> dict[str, Any]:
    keys = talk.find_keys(spark, config["key_groups"])
    (folder / MADE).write_text(json.dumps(keys), encoding="utf-8")
    made = talk.talk(keys, config["job"], config["payload_bytes"], config["seed"])
    output = folder / "run" / "output" / "talk"
    output.mkdir(parents=True)
    writer = talk.query(spark, made).writeStream.queryName("talk").outputMode("update")
    writer = writer.option("checkpointLocation", str(folder / "run" / "checkpoint" / "talk"))
    return {"talk": writer.foreachBatch(to_files(output)).start()}


def _batches(query: Any, wanted: int) -> list[dict[str, Any]]:
    """The progress of the first `wanted` batches; fails where the query does."""
    while True:
        found = [one for one in query.recentProgress if "addBatch" in one["durationMs"]]
        if len(found) >= wanted:
            return [json.loads(one.json) for one in found[:wanted]]
        if not query.isActive:
            raise RuntimeError(f"the query has ended: {query.exception()}")
        time.sleep(0.1)


if __name__ == "__main__":
    main(sys.argv[1])
