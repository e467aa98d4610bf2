"""Clicks of visitors: sessions whose pause depends on the device, and page counts of clicks that come twice."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F

from jobs.chance import START_MS, numbers, times_ms, zipf
from jobs.job import Batch, Job, Query, Read, Row, Rows, Taken
from jobs.sessions import ended
from jobs.timed import ends, timed
from jobs.watermarks import as_rows, closed, column, marks, windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PAUSES_MS = {"app": 20_000, "web": 60_000}
SPAN_MS, WINDOW_MS, DELAY_MS = 30_000, 60_000, 10_000
STREAMS = {"clicks": "click long, visitor long, page string, device string, at_ms long"}


def generate(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Few visitors and pages have most clicks, and others as time goes on; one click in ten comes twice, some late."""
    since_ms, number = START_MS, 0
    before: Rows = []
    while True:
        visitors, pages = zipf(rng, 400, 0.9, rows, number // 50), zipf(rng, 40, 1.1, rows, number // 2000)
        times = times_ms(rng, since_ms, SPAN_MS, rows, late_ratio=0.05, late_ms=45_000)
        clicks: Rows = [
            {
                "click": number + i,
                "visitor": visitors[i],
                "page": f"/{pages[i]}",
                "device": "app" if visitors[i] % 3 else "web",
                "at_ms": at_ms,
            }
            for i, at_ms in enumerate(times)
        ]
        known = before + clicks
        again = [known[i] for i in numbers(rng, 0, len(known), rows // 10)]
        yield {"clicks": clicks + again}
        since_ms, number, before = since_ms + SPAN_MS, number + rows, clicks


def build_sessions(read: Read) -> DataFrame:
    """Clicks, first and last page of each visit."""
    pause = F.when(F.col("device") == "app", "20 seconds").otherwise("60 seconds")
    visits = timed(read("clicks"), DELAY_MS).groupBy(F.session_window("at", pause), "visitor")
    at = F.struct("at_ms", "click")
    facts = visits.agg(
        F.count("*").alias("clicks"), F.min_by("page", at).alias("first"), F.max_by("page", at).alias("last")
    )
    return facts.select("visitor", ends("session_window"), "clicks", "first", "last")


def answer_sessions(taken: Sequence[Taken]) -> list[Rows]:
    """A visit lasts until the latest of its clicks' pauses is over."""
    visits = ended(taken, marks(taken, (column("clicks"), DELAY_MS)), "clicks", _click)
    tuples = ([(who, end, len(some), min(some)[2], max(some)[2]) for who, (_, end, some) in one] for one in visits)
    return as_rows(tuples, "visitor", "ends_ms", "clicks", "first", "last")


def _click(one: Row) -> tuple[int, int, int, tuple[int, int, str]]:
    return one["visitor"], one["at_ms"], PAUSES_MS[one["device"]], (one["at_ms"], one["click"], one["page"])


def build_pages(read: Read) -> DataFrame:
    """Clicks of each page and minute, each click once."""
    once = timed(read("clicks"), DELAY_MS).dropDuplicatesWithinWatermark(["click"])
    counts = once.groupBy(F.window("at", "60 seconds"), "page").agg(F.count("*").alias("clicks"))
    return counts.select("page", ends(), "clicks")


def answer_pages(taken: Sequence[Taken]) -> list[Rows]:
    """A click is remembered until the watermark has reached its time and the delay."""
    when = marks(taken, (column("clicks"), DELAY_MS))
    until_ms: dict[int, int] = {}
    arrivals = []
    for mark, batch in zip(when, taken, strict=True):
        new = []
        for one in batch.rows.get("clicks", ()):
            if one["at_ms"] > mark.late_ms and one["click"] not in until_ms:
                until_ms[one["click"]] = one["at_ms"] + DELAY_MS
                new.append((windows(one["at_ms"], WINDOW_MS)[0], one["page"], 1))
        until_ms = {click: end for click, end in until_ms.items() if end > mark.now_ms}
        arrivals.append((mark, new))
    counts = closed(arrivals, operator.add)
    return as_rows(([(page, end, n) for end, page, n in some] for some in counts), "page", "ends_ms", "clicks")


JOBS = (
    Job(
        name="clicks-sessions",
        source="daily use",
        about="visits of a site: sessions, whose pause depends on the device",
        streams=STREAMS,
        generate=generate,
        queries=(Query(name="visits", build=build_sessions, answer=answer_sessions),),
    ),
    Job(
        name="clicks-once",
        source="daily use",
        about="clicks of each page and minute, each click once: deduplication, then a window",
        streams=STREAMS,
        generate=generate,
        queries=(Query(name="pages", build=build_pages, answer=answer_pages),),
    ),
)
