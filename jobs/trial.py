"""One job once on a session that exists: all of its input, its output checked, and what Spark says of its shape."""

from __future__ import annotations

import dataclasses
import pathlib
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from jobs import feed
from jobs.acts import named
from jobs.job import Job
from jobs.running import start
from jobs.session import failed_tasks
from jobs.sources import Files, Open, Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.moves import Mover

LIMIT_S, BATCH_S = 600.0, 10.0
"""The most that a query may take: the first, and the second for each batch of input."""
POLL_S = 0.1
TRIGGER, MOVED_TRIGGER = "0 seconds", "3 seconds"
"""Time between two batches: with moves some has to be, or the last batch is done before the first move."""
BATCHES_AFTER = 2
"""Batches after the last row from which a query counts as through, if it never comes to rest by itself."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A query as its last batch showed it: Spark's names of its operators with state, and the state of all of them.

    `output_rows` are those of all batches.
    """

    query: str
    operators: tuple[str, ...]
    state_rows: int
    state_bytes: int
    output_rows: int


class Kind(NamedTuple):
    """What was run: the job, whether key groups were moved, whether there was harm, and whether it was by time."""

    job: str
    moved: bool
    harmed: bool
    by_time: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a job; `took_s` is for all batches of all queries.

    What only the agent tells is None without it: `stages` with key groups, `key_groups` of all of them, `moves`. `harm`
    counts what was done, by its name (`jobs.acts.Victim`), None where nothing was to be, and `minutes` is for how long,
    None where it came by batches; with a driver killed, all but the time is of the last one.
    """

    job: str
    seed: int
    rows: int
    batches: int
    took_s: float
    differences: tuple[str, ...]
    failed_tasks: int
    shapes: tuple[Shape, ...]
    stages: int | None = None
    key_groups: int | None = None
    moves: int | None = None
    harm: Mapping[str, int] | None = None
    minutes: float | None = None

    @property
    def kind(self) -> Kind:
        """Of outcomes of one kind and job, the newest counts."""
        return Kind(
            job=self.job,
            moved=self.moves is not None,
            harmed=self.harm is not None,
            by_time=self.minutes is not None,
        )

    @property
    def exact(self) -> bool:
        """Every row of every batch is right, moves were made if any were wanted, and no task failed but for harm."""
        return not self.differences and (self.kind.harmed or not self.failed_tasks) and self.moves != 0


class NotDone(Exception):
    """A query has ended, or took too long; the sentence says which one and why."""


def run(
    spark: SparkSession,
    job: Job,
    folder: pathlib.Path,
    seed: int,
    rows: int,
    batches: int,
    mover: Mover | None = None,
    *,
    open_source: Open = Files,
) -> Outcome:
    """Publish `batches` batches of about `rows` rows, run every query to their end, and compare. `folder` is empty.

    A query that fails is a difference, the session's other jobs may go on.
    """
    failed = failed_tasks(spark)
    source = open_source(spark, job, folder / "input")
    read = source.publish(seed, rows, batches)
    began_s = time.monotonic()
    trigger = TRIGGER if mover is None else MOVED_TRIGGER
    queries = {query.name: start(query, read, folder / "run", trigger) for query in job.queries}
    failures = []
    try:
        for name, query in queries.items():
            _wait(query, source, folder / "run" / "checkpoint" / name, LIMIT_S + BATCH_S * batches)
    except NotDone as error:
        failures = [str(error)]
    took_s = time.monotonic() - began_s
    shapes = tuple(shape(name, query, folder / "run" / "output" / name) for name, query in queries.items())
    told = _told(mover, queries.values())
    for query in queries.values():
        query.stop()
    return Outcome(
        job=job.name,
        seed=seed,
        rows=sum(len(feed.read_rows(file)) for stream in job.streams for file in (folder / "input" / stream).iterdir()),
        batches=batches,
        took_s=took_s,
        differences=tuple(failures or source.check(folder / "run")),
        failed_tasks=failed_tasks(spark) - failed,
        shapes=shapes,
        **told,
    )


def _told(mover: Mover | None, queries: Iterable[Any]) -> dict[str, Any]:
    """What the agent knows of the queries; one that it does not know any more counts for nothing."""
    if mover is None:
        return {}
    ids = {str(query.id) for query in queries}
    known = mover.known(ids)
    return {
        "stages": sum(len(one.owners) for one in known),
        "key_groups": sum(len(row) for one in known for row in one.owners.values()),
        "moves": mover.moves(ids),
    }


def _wait(query: Any, source: Source, checkpoint: pathlib.Path, limit_s: float) -> None:
    """Until all input was taken in and what closes after it has closed; NotDone when that does not happen."""
    until_s, last = time.monotonic() + limit_s, None
    while time.monotonic() < until_s:
        if not query.isActive:
            raise NotDone(f"{query.name} has ended: {str(query.exception()).splitlines()[0]}")
        committed, share = source.progress(checkpoint)
        if share >= 1.0:
            last = committed if last is None else last
            if committed >= last + BATCHES_AFTER or _rests(query):
                return
        time.sleep(POLL_S)
    raise NotDone(f"{query.name}: its input was not done within {limit_s:g} s.")


def _rests(query: Any) -> bool:
    """Whether it waits for data: it has then run the batch that closes what its last rows let close."""
    status = query.status
    return not status["isTriggerActive"] and not status["isDataAvailable"]


def shape(name: str, query: Any, output: pathlib.Path) -> Shape:
    """What the newest progress with a batch says, and the folder of its output."""
    operators: list[Any] = next(
        (one["stateOperators"] for one in reversed(query.recentProgress) if "addBatch" in one["durationMs"]), []
    )
    return Shape(
        query=name,
        operators=tuple(one["operatorName"] for one in operators),
        state_rows=sum(one["numRowsTotal"] for one in operators),
        state_bytes=sum(one["memoryUsedBytes"] for one in operators),
        output_rows=sum(len(feed.read_rows(file)) for file in output.glob("batch-*.json")),
    )


def sentences(outcome: Outcome) -> Iterator[str]:
    """The outcome for a person."""
    moves = "" if outcome.moves is None else f", {outcome.moves} moves"
    verdict = "exact" if outcome.exact else "NOT exact"
    harm = "".join(f", {one}" for one in harms(outcome))
    given = f"{outcome.rows} rows in {outcome.batches} batches"
    yield f"{outcome.job}: {verdict}; {given}, {outcome.took_s:.0f} s{moves}{harm}"
    yield from (f"  {one}" for one in outcome.differences)
    if outcome.failed_tasks:
        yield f"  {outcome.failed_tasks} tasks failed"
    if outcome.moves == 0:
        yield "  no key group moved"


def harms(outcome: Outcome) -> Iterator[str]:
    """What was done to the job, for a person."""
    yield from (named(count, name) for name, count in (outcome.harm or {}).items())
