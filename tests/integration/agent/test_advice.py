"""`streamjob advise` on a real query: two chained aggregations, what the rewrite it names saves, and the result."""

from __future__ import annotations

import collections
import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import functions as F

from streamjob_cli.main import main
from streamjob_planners.advice.sentences import STRICT

PARTITIONS, FILES, ROWS, USERS = 8, 2, 1500, 600
pytestmark = pytest.mark.spark


def rows(file: int) -> list[tuple[str, str, str]]:
    """Every page is new, so that summing up before the first shuffle saves nothing."""
    return [(f"2024-01-01 00:{10 * file:02d}:{i % 60:02d}", f"user{i % USERS}", f"page{file}-{i}") for i in range(ROWS)]


def expected(closed: int) -> dict[str, int]:
    """Pages of each user in each of the minutes that the watermark has closed, summed up, without Spark."""
    pages: collections.Counter[str] = collections.Counter()
    for file in range(closed):
        pages.update(user for _, user, _ in rows(file))
    return dict(pages)


class Views:
    """Views by user and page, then pages by user: keyed one by one, or all by user from the start."""

    def __init__(self, session: Any, folder: pathlib.Path) -> None:
        self.session, self.folder = session, folder
        (folder / "in").mkdir()
        for file in range(FILES):
            text = "".join(",".join(row) + "\n" for row in rows(file))
            (folder / "in" / f"{file}.csv").write_text(text)

    def start(self, name: str, alike: bool) -> Any:
        self.session.conf.set(STRICT, "false" if alike else "true")
        read = self.session.readStream.schema("ts timestamp, user string, page string")
        events = read.option("maxFilesPerTrigger", 1).csv(str(self.folder / "in")).withWatermark("ts", "0 seconds")
        events = events.repartition(PARTITIONS, "user") if alike else events
        views = events.groupBy(F.window("ts", "1 minute"), "user", "page").agg(F.count("*").alias("views"))
        pages = views.groupBy("window", "user").agg(F.count("*").alias("pages"), F.max("views").alias("most"))
        writer = pages.writeStream.format("memory").queryName(name).outputMode("append")
        return writer.option("checkpointLocation", str(self.folder / name)).start()

    def result(self, name: str) -> dict[str, int]:
        counted: collections.Counter[str] = collections.Counter()
        for row in self.session.table(name).collect():
            assert row["most"] == 1
            counted[row["user"]] += row["pages"]
        return dict(counted)


def batches(query: Any) -> int:
    return len({p["batchId"] for p in query.recentProgress if "addBatch" in p["durationMs"]})


def test_a_query_keyed_alike_as_advised_shuffles_once_less_and_says_the_same(
    install: Callable[[Any], Any], spark_cluster: Any, tmp_path: pathlib.Path
) -> None:
    session = spark_cluster.session
    agent = install(session)
    views = Views(session, tmp_path)
    told, results = {}, {}
    before = session.conf.get(STRICT)
    try:
        for name, alike in (("apart", False), ("alike", True)):
            query = views.start(name, alike)
            query.processAllAvailable()
            told[name] = spark_cluster.wait_until(lambda: advice(agent, name, query), f"the plan of {name}")  # noqa: B023
            results[name] = views.result(name)
            query.stop()
    finally:
        session.conf.set(STRICT, before)

    (rewrite,) = told["apart"]["rewrites"]
    assert (rewrite["need"], rewrite["columns"], rewrite["before"]) == ("Shared", ["user"], [1])
    assert rewrite["worth_it"]
    assert f'Put .repartition({PARTITIONS}, "user") before operator 1' in rewrite["sentences"][0]
    assert told["alike"]["rewrites"] == []
    assert [len(told[name]["shuffles"]) for name in ("apart", "alike")] == [2, 1]
    assert results["apart"] == results["alike"] == expected(FILES - 1)
    carried = {name: sum(s["size_bytes"] for s in one["shuffles"]) * one["batches"] for name, one in told.items()}
    seconds = {name: sum(s["seconds"] for s in one["shuffles"]) * one["batches"] for name, one in told.items()}
    print(f"\nshuffled in all batches: {carried} bytes, {seconds} task seconds; {rewrite['sentences'][1]}")
    assert 0 < carried["alike"] < carried["apart"]
    assert agent.failed_tasks() == 0


def advice(agent: Any, name: str, query: Any) -> dict[str, Any] | None:
    """What the command says, once every batch that ran is in it."""
    result = CliRunner().invoke(main, ["advise", name, "--attach", agent.address, "--json"])
    document = json.loads(result.output)[0] if result.exit_code == 0 else None
    return document if document is not None and document["batches"] == batches(query) else None
