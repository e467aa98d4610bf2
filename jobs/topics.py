"""A job's input in Kafka: a topic for each stream, and which of its rows each batch of a query took in."""

from __future__ import annotations

import itertools
import json
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from jobs.job import Batch, Job, Read, Row, Rows, Taken
from jobs.running import table
from jobs.taken import logged, numbered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Logs = Mapping[str, Mapping[str, Rows]]
"""By topic the rows of each partition, in the order of their offsets."""
Offsets = Mapping[str, Mapping[str, int]]
"""By topic and partition how many rows have been read."""


def topic(prefix: str, stream: str) -> str:
    """The topic of a stream; `prefix` keeps those of one run or job apart from others."""
    return f"{prefix}.{stream}"


def reader(
    spark: SparkSession,
    job: Job,
    folder: pathlib.Path,
    bootstrap: str,
    prefix: str,
    most: Mapping[str, int],
    min_partitions: int | None = None,
) -> Read:
    """Streams from topics of JSON, from their first row on, and tables of a folder.

    `most` is how many rows of a stream a batch takes in at the most, `min_partitions` into how many tasks it is read.
    """

    def read(name: str) -> DataFrame:
        if name in job.tables:
            return table(spark, job, folder, name)
        stream = spark.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
        stream = stream.option("subscribe", topic(prefix, name)).option("startingOffsets", "earliest")
        stream = stream.option("maxOffsetsPerTrigger", most[name])
        if min_partitions is not None:
            stream = stream.option("minPartitions", min_partitions)
        value = F.from_json(F.col("value").cast("string"), job.streams[name])
        return stream.load().select(value.alias("row")).select("row.*")

    return read


def publish(spark: SparkSession, batches: Iterable[Batch], bootstrap: str, prefix: str) -> None:
    """All rows, one after another. Kafka chooses a row's partition by its number, so each run has the same ones."""
    numbers = itertools.count()
    rows = [
        (topic(prefix, stream), str(next(numbers)), json.dumps(row))
        for batch in batches
        for stream, some in batch.items()
        for row in some
    ]
    frame = spark.createDataFrame(rows, "topic string, key string, value string").coalesce(1)
    frame.write.format("kafka").option("kafka.bootstrap.servers", bootstrap).save()


def logs(spark: SparkSession, bootstrap: str, topics: Sequence[str]) -> Logs:
    """What the topics hold; ValueError where offsets are not those of the rows, without a gap."""
    records = (
        spark.read.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("subscribe", ",".join(topics))
    )
    found: dict[str, dict[str, Rows]] = {name: {} for name in topics}
    columns = records.load().select("topic", "partition", "offset", F.col("value").cast("string").alias("value"))
    for record in sorted(columns.collect(), key=lambda one: one["offset"]):
        rows = found[record["topic"]].setdefault(str(record["partition"]), [])
        if record["offset"] != len(rows):
            raise ValueError(f"{record['topic']}: offset {record['offset']} follows {len(rows) - 1}.")
        rows.append(json.loads(record["value"]))
    return found


def taken(checkpoint: pathlib.Path, held: Logs) -> list[Taken]:
    """Every committed batch in order, by the checkpoint's offsets; ValueError when one of them is missing."""
    before: Offsets = {}
    batches = []
    for number in numbered(checkpoint):
        log = logged(checkpoint / "offsets" / str(number))
        until = reached(log.offsets)
        rows = {
            name.rpartition(".")[2]: _between(held[name], before.get(name, {}), ends) for name, ends in until.items()
        }
        some = {stream: own for stream, own in rows.items() if own}
        batches.append(Taken(rows=some, clock_ms=log.clock_ms, watermark_ms=log.watermark_ms))
        before = {**before, **until}
    return batches


def reached(lines: Iterable[str]) -> Offsets:
    """A batch's offsets, of its log's lines; ValueError where a query reads a topic twice and not to the same place."""
    found: dict[str, Mapping[str, int]] = {}
    for name, ends in itertools.chain.from_iterable(map(_topics, lines)):
        if found.setdefault(name, ends) != ends:
            raise ValueError(f"{name} was read twice, to {found[name]} and to {ends}.")
    return found


def _topics(line: str) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Nothing for a source that has not been looked at yet."""
    offsets: Any = {} if line == "-" else json.loads(line)
    yield from offsets.items()


def _between(partitions: Mapping[str, Rows], before: Mapping[str, int], until: Mapping[str, int]) -> list[Row]:
    return [row for at, end in until.items() for row in partitions.get(at, [])[before.get(at, 0) : end]]
