"""Where a run's input comes from: files, or Kafka."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import pathlib
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from jobs import feed, running, topics
from jobs.checking import check, counted
from jobs.job import Batch, Job, Read
from jobs.taken import logged, numbered, reached

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FILLED = "filled"
"""A file beside the copy of the input: the prefix of the topics that hold all of it."""


class Source(Protocol):
    """The input of one job once; a copy of it lies in a folder, a file for each stream and batch."""

    def publish(self, seed: int, rows: int, batches: int) -> Read:
        """Put the batches where the job finds them; how it reads them, about one a time."""
        ...

    def progress(self, checkpoint: pathlib.Path) -> tuple[int, float]:
        """Batches that a query has committed, and the share of the input that they took in, 0 to 1."""
        ...

    def check(self, run: pathlib.Path) -> list[str]:
        """What is wrong with the output in `run`, a sentence each."""
        ...


Open = Callable[["SparkSession", Job, pathlib.Path], Source]
"""A source of a job, whose copy of the input is to lie in the folder."""


class Files:
    """The copy itself is read."""

    def __init__(self, spark: SparkSession, job: Job, folder: pathlib.Path) -> None:
        self._spark, self._job, self._folder = spark, job, folder
        self._batches = 0

    def publish(self, seed: int, rows: int, batches: int) -> Read:
        """A batch is a file of each stream."""
        self._batches = batches
        feed.publish_all(self._job, self._folder, seed, rows, batches)
        return running.reader(self._spark, self._job, self._folder)

    def progress(self, checkpoint: pathlib.Path) -> tuple[int, float]:
        """By the files of the source that is furthest behind."""
        committed, steps = reached(checkpoint)
        return committed, steps / self._batches

    def check(self, run: pathlib.Path) -> list[str]:
        """By the names of the files that each batch read."""
        return check(self._job, self._folder, run)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kafka:
    """A broker, HOST:PORT, and how its topics are read, as `jobs.topics.reader` has it; without `most` a batch takes in
    as many rows of a stream as the largest batch of the input has."""

    bootstrap: str
    most: int | None = None
    min_partitions: int | None = None

    def open(self, spark: SparkSession, job: Job, folder: pathlib.Path) -> Source:
        """Topics that no other run has; those of the folder's own, if they hold all of the input."""
        filled = folder / FILLED
        known = filled.read_text(encoding="utf-8") if filled.exists() else None
        return Topics(spark, job, folder, self, known or f"{job.name}-{uuid.uuid4().hex[:8]}")


class Topics:
    """A topic of each stream, named by `prefix` and the stream."""

    def __init__(self, spark: SparkSession, job: Job, folder: pathlib.Path, kafka: Kafka, prefix: str) -> None:
        self._spark, self._job, self._folder, self._kafka = spark, job, folder, kafka
        self._prefix = prefix
        self._sizes: dict[str, int] = {}

    def add(self, batch: Batch) -> None:
        """One batch more, whose copy somebody else keeps in the folder."""
        topics.publish(self._spark, [batch], self._kafka.bootstrap, self._prefix)

    def publish(self, seed: int, rows: int, batches: int) -> Read:
        """All batches, and their copy; once, however often drivers begin with it."""
        feed.publish_all(self._job, self._folder, seed, rows, batches)
        given = list(itertools.islice(feed.batches(self._job, seed, rows), batches))
        if not (filled := self._folder / FILLED).exists():
            topics.publish(self._spark, given, self._kafka.bootstrap, self._prefix)
            filled.write_text(self._prefix, encoding="utf-8")
        self._sizes = {self._topic(stream): sum(len(one[stream]) for one in given) for stream in self._job.streams}
        most = {stream: self._kafka.most or max(len(one[stream]) for one in given) for stream in self._job.streams}
        return topics.reader(
            self._spark, self._job, self._folder, self._kafka.bootstrap, self._prefix, most, self._kafka.min_partitions
        )

    def progress(self, checkpoint: pathlib.Path) -> tuple[int, float]:
        """By the rows of the topic that is furthest behind, among those that the query reads."""
        numbers = numbered(checkpoint)
        if not numbers:
            return 0, 0.0
        lines = logged(checkpoint / "offsets" / str(numbers[-1])).offsets
        shares = [sum(ends.values()) / self._sizes[name] for name, ends in topics.reached(lines).items()]
        return len(numbers), 0.0 if "-" in lines else min(shares)

    def check(self, run: pathlib.Path) -> list[str]:
        """By the offsets that each batch read, once the topics were seen to hold the input and nothing else."""
        held = topics.logs(self._spark, self._kafka.bootstrap, [self._topic(stream) for stream in self._job.streams])
        wrong = [sentence for stream in self._job.streams for sentence in self._not_held(stream, held)]
        return wrong + check(self._job, self._folder, run, functools.partial(topics.taken, held=held))

    def _not_held(self, stream: str, held: topics.Logs) -> Iterator[str]:
        name = self._topic(stream)
        given = (row for file in (self._folder / stream).glob("*.json") for row in feed.read_rows(file))
        if counted(itertools.chain.from_iterable(held[name].values())) != counted(given):
            yield f"{name} does not hold the rows that were given, each once"

    def _topic(self, stream: str) -> str:
        return topics.topic(self._prefix, stream)
