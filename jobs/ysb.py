"""The Yahoo Streaming Benchmark: views of ads, joined with their campaigns, counted by campaign and 10 seconds.

Chintapalli and others, "Benchmarking streaming computation engines" (2016): 100 campaigns of ten ads, a third of the
events are views. Ours are skewed and drift, the benchmark's are even; the campaigns' table is a file, there Redis.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F

from jobs.chance import START_MS, numbers, times_ms, zipf
from jobs.job import Batch, Job, Query, Read, Rows, Taken
from jobs.timed import ends, timed
from jobs.watermarks import as_rows, closed, column, marks, windowed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CAMPAIGNS, ADS_EACH = 100, 10
KINDS = ("view", "click", "purchase")
SPAN_MS, WINDOW_MS, DELAY_MS = 5_000, 10_000, 1_000
CAMPAIGN_OF = {ad: f"campaign-{ad % CAMPAIGNS}" for ad in range(CAMPAIGNS * ADS_EACH)}


def generate(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Events whose hottest ad is another one in each batch; one in a hundred comes up to 15 s late."""
    since_ms, turn = START_MS, 0
    while True:
        ads = zipf(rng, CAMPAIGNS * ADS_EACH, 0.8, rows, turn)
        kinds, users = numbers(rng, 0, len(KINDS), rows), numbers(rng, 0, 10_000, rows)
        times = times_ms(rng, since_ms, SPAN_MS, rows, late_ratio=0.01, late_ms=15_000)
        yield {
            "events": [
                {"user": users[i], "ad": ads[i], "kind": KINDS[kinds[i]], "at_ms": at_ms}
                for i, at_ms in enumerate(times)
            ]
        }
        since_ms, turn = since_ms + SPAN_MS, turn + 37


def build(read: Read) -> DataFrame:
    """Views by campaign and window."""
    views = timed(read("events").where(F.col("kind") == "view"), DELAY_MS)
    counts = views.join(read("campaigns"), "ad").groupBy(F.window("at", "10 seconds"), "campaign")
    return counts.agg(F.count("*").alias("views")).select("campaign", ends(), "views")


def answer(taken: Sequence[Taken]) -> list[Rows]:
    """Only views move the watermark: the others are gone before it."""
    views = [_views(one) for one in taken]
    when = marks(views, (column("views"), DELAY_MS))
    counts = closed(windowed(views, when, "views", WINDOW_MS, lambda row: [(CAMPAIGN_OF[row["ad"]], 1)]), operator.add)
    return as_rows(([(key, end, n) for end, key, n in some] for some in counts), "campaign", "ends_ms", "views")


def _views(one: Taken) -> Taken:
    seen = [row for row in one.rows.get("events", ()) if row["kind"] == "view"]
    return dataclasses.replace(one, rows={"views": seen})


JOBS = (
    Job(
        name="ysb",
        source="Yahoo Streaming Benchmark",
        about="views of ads by campaign: a filter, a table, a window",
        streams={"events": "user long, ad long, kind string, at_ms long"},
        tables={
            "campaigns": (
                "ad long, campaign string",
                [{"ad": ad, "campaign": name} for ad, name in CAMPAIGN_OF.items()],
            )
        },
        generate=generate,
        queries=(Query(name="views", build=build, answer=answer),),
    ),
)
