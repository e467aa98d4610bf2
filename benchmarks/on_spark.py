"""What the papers' remedies do to real queries: keys made alike as `advise` says, and a hot key in two halves.

    python -m benchmarks.on_spark                  # three executors of one slot; writes docs/figures/on-spark.md
    python -m benchmarks.on_spark --seconds 400    # begin no query after so long; the next call goes on

Every query gets a file a batch, and its answer is compared with plain Python's. Shuffles are what the agent's bridge
tells, means over the newest batches; tasks and batches are those after the first COLD files.
"""

from __future__ import annotations

import argparse
import atexit
import collections
import contextlib
import dataclasses
import functools
import hashlib
import pathlib
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any

from jobs.session import local_cluster
from pyspark.sql import functions as F

from benchmarks.kept import piece, stop_after
from streamjob_agent.bridge import GroupUsage, TrafficReading
from streamjob_agent.pkg import two_choices
from streamjob_agent.plan_form import QueryPlan
from streamjob_agent.spark import DriverBridge, connect
from streamjob_operator.advising.reading import job_plan
from streamjob_planners.advice.advise import advise
from streamjob_planners.advice.sentences import STRICT

PAGE = pathlib.Path("docs/figures/on-spark.md")
IDLE = "spark.sql.streaming.noDataMicroBatches.enabled"
KEY_GROUPS, FILES, COLD = 8, 5, 2
VIEWS, USERS = 10_000, 1_000
HOT_ROWS, OTHER_ROWS, OTHER_KEYS, HASHES = 16_000, 4_000, 25, 40


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One query over all files; `batch_s`: the median of its batches with rows, seconds."""

    plan: QueryPlan
    groups: tuple[GroupUsage, ...]
    traffic: TrafficReading
    batch_s: float
    answer: Mapping[str, int]


def run(bridge: DriverBridge, frame: Any, mode: str, folder: pathlib.Path, file: Callable[[int], str]) -> Run:
    """`frame` reads `folder`/in; a row is a key and a number, which in append mode adds to what the key has."""
    answer: collections.Counter[str] = collections.Counter()

    def collect(rows: Any, _: int) -> None:
        for key, number in rows.collect():
            answer[key] = number + (answer[key] if mode == "append" else 0)

    writer = frame.writeStream.outputMode(mode).foreachBatch(collect)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    for number in range(FILES):
        if number == COLD:
            _told(bridge, query)
        (folder / "draft").write_text(file(number), encoding="utf-8")
        (folder / "draft").rename(folder / "in" / f"{number:03d}.csv")
        query.processAllAvailable()
    groups = _told(bridge, query)
    (known,) = (one for one in bridge.look().queries if one.query_id == query.id)
    plan, traffic = bridge.plan(known), bridge.traffic(query.id, 1, 10_000)
    took_s = [one["durationMs"]["triggerExecution"] / 1000 for one in query.recentProgress if one["numInputRows"]]
    query.stop()
    assert plan is not None
    return Run(plan=plan, groups=groups, traffic=traffic, batch_s=statistics.median(took_s[COLD:]), answer=answer)


def _told(bridge: DriverBridge, query: Any) -> tuple[GroupUsage, ...]:
    """Of the batches that have ended since the last call, once all their events have arrived."""
    bridge._session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return bridge.drain().groups.get(query.id, ())


def views(number: int) -> str:
    """Every page is new, so that summing up before the first shuffle saves nothing; each file is a minute."""
    return "".join(
        f"2024-01-01 {number // 60:02d}:{number % 60:02d}:{row % 60:02d},user{row % USERS},page{number}-{row}\n"
        for row in range(VIEWS)
    )


def _pages(events: Any, first: tuple[str, ...], then: tuple[str, ...], again: tuple[str, ...]) -> Any:
    """Views of each user and minute: counted by `first`, shuffled by `again` if it names columns, then once more by
    `then`. Spark makes one aggregation of two where the second adds up the first's, so this one does not: each of the
    first's groups of a user has as many views as any other."""
    counted = events.groupBy(F.window("ts", "1 minute"), *first).agg(F.count("*").alias("views"))
    counted = counted.repartition(KEY_GROUPS, *again) if again else counted
    twice = counted.groupBy(*then).agg(F.count("*").alias("parts"), F.max("views").alias("most"))
    return twice.select("user", F.col("parts") * F.col("most"))


BY_USER, BY_PAGE = ("user",), ("user", "page")
CHAINS = {
    "by user and page, then by user": (BY_PAGE, ("window", "user"), (), ()),
    "the same, keyed alike as advised": (BY_PAGE, ("window", "user"), (), BY_USER),
    "by user, then by user": (BY_USER, ("window", "user"), (), ()),
    "the same, shuffled by the same key in between": (BY_USER, ("window", "user"), ("window", "user"), ()),
}
"""Columns of the two aggregations, of a repartition between them, and of one before both."""


@functools.cache
def cluster() -> tuple[Any, DriverBridge]:
    """A session with three executors, and the bridge to its driver; both end with the program."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    session = stack.enter_context(local_cluster(KEY_GROUPS))
    bridge = connect(session)
    stack.callback(bridge.close)
    return session, bridge


@piece
def chain(name: str) -> str:
    """A line of the table for one of CHAINS."""
    session, bridge = cluster()
    first, then, between, before = CHAINS[name]
    with folder_with_input() as own:
        session.conf.set(STRICT, "false" if before else "true")
        session.conf.set(IDLE, "false")
        events = session.readStream.schema("ts timestamp, user string, page string").csv(str(own / "in"))
        events = events.withWatermark("ts", "0 seconds")
        events = events.repartition(KEY_GROUPS, *before) if before else events
        found = run(bridge, _pages(events, first, then, between), "append", own, views)
        session.conf.unset(STRICT)
        session.conf.unset(IDLE)
    closed = FILES - 2  # a minute is over where a later batch has seen a later one
    assert found.answer == {f"user{user}": closed * VIEWS // USERS for user in range(USERS)}, name
    return f"| {name} | {_chain_cells(found)} |\n"


@contextlib.contextmanager
def folder_with_input() -> Iterator[pathlib.Path]:
    """An own folder with an empty folder `in`."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "in").mkdir()
        yield pathlib.Path(folder)


def _chain_cells(found: Run) -> str:
    shuffles = found.plan.shuffles
    seconds = [sum(part or 0.0 for part in (one.write_s, one.wait_s)) for one in shuffles]
    cells = (
        " + ".join(f"{(one.size_bytes or 0.0) / 1024:.0f}" for one in shuffles),
        " + ".join(f"{one:.2f}" for one in seconds),
        f"{len(found.groups)}",
        _own_part(found.traffic),
        f"{found.batch_s:.1f}",
        "; ".join(f"{one.need.value}, {'worth it' if one.worth_it else 'not worth it'}" for one in _rewrites(found))
        or "-",
    )
    return " | ".join(cells)


def _rewrites(found: Run) -> Any:
    return advise(job_plan(found.plan)).rewrites


def _own_part(traffic: TrafficReading) -> str:
    """The part of the bytes between two operators that goes from a partition to the one of the same number."""
    total = sum(pair.size_bytes for pair in traffic.pairs)
    own = sum(pair.size_bytes for pair in traffic.pairs if pair.from_key.partition == pair.to_key.partition)
    return f"{own / total:.0%}" if total else "none is sent"


def skewed(number: int) -> str:
    """Four of five rows have the key `hot`."""
    first = number * (HOT_ROWS + OTHER_ROWS)
    keys = ["hot"] * HOT_ROWS + [f"k{row % OTHER_KEYS}" for row in range(OTHER_ROWS)]
    return "".join(f"{key},{first + row}\n" for row, key in enumerate(keys))


def costly() -> Callable[[Any], tuple[int]]:
    """Work for each row, some hashes; made in a function, so that executors get it by value."""

    def part(rows: Any) -> tuple[int]:
        for value in rows["v"]:
            text = str(value).encode()
            for _ in range(HASHES):
                text = hashlib.sha256(text).digest()
        return (len(rows),)

    return part


SPLITS = {"whole": (), "in two halves": ("hot",)}
"""Keys that get two candidates."""


@piece
def split(name: str) -> str:
    """A line of the table for one of SPLITS."""
    session, bridge = cluster()
    with folder_with_input() as own:
        rows = session.readStream.schema("k string, v long").csv(str(own / "in"))
        frame = two_choices(rows, "k", costly(), columns="n long", merge={"n": "sum"}, hot=SPLITS[name])
        found = run(bridge, frame, "update", own, skewed)
    assert found.answer == {
        "hot": FILES * HOT_ROWS,
        **{f"k{one}": FILES * OTHER_ROWS // OTHER_KEYS for one in range(OTHER_KEYS)},
    }
    cells = (
        f"{max(one.records for one in found.groups) / (FILES - COLD):.0f}",
        f"{max(one.busy_s for one in found.groups) / (FILES - COLD):.2f}",
        f"{sum(one.busy_s for one in found.groups) / (FILES - COLD):.2f}",
        f"{found.batch_s:.1f}",
    )
    return f"| {name} | {' | '.join(cells)} |\n"


HEAD = """# What the papers' remedies do on real Spark

`python -m benchmarks.on_spark` runs these queries on three executor processes of one slot each, with {groups}
partitions, and writes this page: Spark {version}, {files} files, one a batch, of which the first {cold} count in no
seconds of tasks and batches. Answers are exact in every row of both tables. Seconds are those of a machine with other
work: compare them within a table.

## Chained aggregations, as `streamjob advise` sees them

{views:,} rows a batch of {users:,} users, every page new; views of each user in each minute. Shuffles in the order of
the plan, a mean batch; *to the same number*: the part of the bytes between the two operators that partition i sends to
partition i.

| aggregations | shuffles, KiB | s of tasks for them | key groups | to the same number | batch, s | `advise` |
|---|---|---|---|---|---|---|
"""
SPLIT = """
## A hot key in two halves (`streamjob_agent.pkg.two_choices`)

{rows:,} rows a batch, four of five with one key; {hashes} hashes a row. A mean batch:

| the hot key | rows of the busiest key group | s of its tasks | s of all key groups' tasks | batch, s |
|---|---|---|---|---|
"""


def main() -> None:
    """Runs every query that is not kept, then writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, help="begin no query after this time")
    stop_after(parser.parse_args().seconds)
    text = HEAD.format(groups=KEY_GROUPS, files=FILES, cold=COLD, views=VIEWS, users=USERS, version=version("pyspark"))
    text += "".join(chain(name) for name in CHAINS)
    text += SPLIT.format(rows=HOT_ROWS + OTHER_ROWS, hashes=HASHES) + "".join(split(name) for name in SPLITS)
    PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
