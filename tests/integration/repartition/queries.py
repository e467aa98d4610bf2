"""Queries over files, whose right answers plain Python can compute, and that go on where they stopped."""

from __future__ import annotations

import collections
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Rows = list[tuple[str, int]]


class Feed:
    """Files of rows `k`, `v`, `t`, a batch each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: Rows = []
        self.files = 0
        folder.mkdir(parents=True)

    def add(self, files: int = 1, keys: int = 23) -> None:
        for _ in range(files):
            new = [(f"k{(i * 7 + self.files) % keys}", i + 100 * self.files) for i in range(60)]
            text = "".join(json.dumps({"k": k, "v": v, "t": f"2026-01-01 00:{v % 60:02d}:00"}) + "\n" for k, v in new)
            draft = self.folder.parent / f"draft-{self.folder.name}-{self.files}"
            draft.write_text(text)
            draft.rename(self.folder / f"{self.files:05d}.json")
            self.rows += new
            self.files += 1

    def read(self, spark: Any) -> Any:
        reader = spark.readStream.schema("k string, v long, t timestamp").option("maxFilesPerTrigger", 1)
        return reader.json(str(self.folder))


def run(frame: Any, checkpoint: Path, mode: str, keep: Callable[[Any, int], None]) -> None:
    """All that waits, in batches of one file, then stop: between two batches."""
    writer = frame.writeStream.foreachBatch(keep).outputMode(mode).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(180), "the query did not end in time"
    finally:
        query.stop()


class Sums:
    """Count and sum of each key, in update mode."""

    mode = "update"

    def __init__(self, folder: Path) -> None:
        self.feed = Feed(folder / "input")
        self.got: dict[str, tuple[int, int]] = {}

    def add(self) -> None:
        self.feed.add()

    def frame(self, spark: Any) -> Any:
        from pyspark.sql import functions as F

        return self.feed.read(spark).groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("s"))

    def keep(self, frame: Any, _: int) -> None:
        self.got |= {row.k: (row.n, row.s) for row in frame.collect()}

    def expected(self) -> dict[str, tuple[int, int]]:
        totals: dict[str, tuple[int, int]] = collections.defaultdict(lambda: (0, 0))
        for key, value in self.feed.rows:
            totals[key] = (totals[key][0] + 1, totals[key][1] + value)
        return dict(totals)


class Distinct:
    """Each pair of key and a part of the value once: what was seen before a change must not come again."""

    mode = "append"

    def __init__(self, folder: Path) -> None:
        self.feed = Feed(folder / "input")
        self.got: list[tuple[str, int]] = []

    def add(self) -> None:
        self.feed.add()

    def frame(self, spark: Any) -> Any:
        return self.feed.read(spark).selectExpr("k", "v % 5 AS m").dropDuplicates(["k", "m"])

    def keep(self, frame: Any, _: int) -> None:
        self.got = sorted([*self.got, *((row.k, row.m) for row in frame.collect())])

    def expected(self) -> list[tuple[str, int]]:
        return sorted({(key, value % 5) for key, value in self.feed.rows})


class Joined:
    """Every pair of rows of two streams with the same key: a row must meet those that came before a change."""

    mode = "append"

    def __init__(self, folder: Path) -> None:
        self.left, self.right = Feed(folder / "left"), Feed(folder / "right")
        self.got: list[tuple[str, int, int]] = []

    def add(self) -> None:
        self.left.add(keys=97)
        self.right.add(keys=89)

    def frame(self, spark: Any) -> Any:
        left = self.left.read(spark).selectExpr("k", "v AS l")
        return left.join(self.right.read(spark).selectExpr("k", "v AS r"), "k")

    def keep(self, frame: Any, _: int) -> None:
        self.got = sorted([*self.got, *((row.k, row.l, row.r) for row in frame.collect())])

    def expected(self) -> list[tuple[str, int, int]]:
        by_key = collections.defaultdict(list)
        for key, value in self.right.rows:
            by_key[key].append(value)
        return sorted((key, value, other) for key, value in self.left.rows for other in by_key[key])


KINDS = {"aggregation": Sums, "distinct": Distinct, "join": Joined}
