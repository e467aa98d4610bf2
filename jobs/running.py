"""Starts a job's queries on a session: streams from files, each batch's output to a file of its own."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

import jobs
from jobs.job import Job, Query, Read

# Executors get this package's functions with the query: they need no copy of it.
cloudpickle.register_pickle_by_value(jobs)  # type: ignore[no-untyped-call]


def reader(spark: SparkSession, job: Job, folder: pathlib.Path, files_per_batch: int = 1) -> Read:
    """Streams and tables of a folder that `feed` fills."""

    def read(name: str) -> DataFrame:
        if name in job.tables:
            return table(spark, job, folder, name)
        stream = spark.readStream.schema(job.streams[name]).option("maxFilesPerTrigger", files_per_batch)
        return stream.json(str(folder / name))

    return read


def table(spark: SparkSession, job: Job, folder: pathlib.Path, name: str) -> DataFrame:
    """A table of the folder."""
    return spark.read.schema(job.tables[name][0]).json(str(folder / name))


def start(query: Query, read: Read, folder: pathlib.Path, trigger: str = "0 seconds") -> Any:
    """The running query; checkpoint and output lie in `folder`/checkpoint/NAME and `folder`/output/NAME."""
    output = folder / "output" / query.name
    output.mkdir(parents=True, exist_ok=True)
    writer = query.build(read).writeStream.queryName(query.name).outputMode(query.output_mode)
    writer = writer.option("checkpointLocation", str((folder / "checkpoint" / query.name).absolute()))
    return writer.foreachBatch(to_files(output)).trigger(processingTime=trigger).start()


def to_files(folder: pathlib.Path) -> Callable[[DataFrame, int], None]:
    """A sink with a file for each batch: one that comes again after a failure takes its file's place."""

    def write(frame: DataFrame, batch_id: int) -> None:
        lines = [json.dumps(row.asDict(recursive=True)) + "\n" for row in frame.collect()]
        draft = folder / f".batch-{batch_id}"
        draft.write_text("".join(lines), encoding="utf-8")
        draft.replace(folder / f"batch-{batch_id}.json")

    return write
