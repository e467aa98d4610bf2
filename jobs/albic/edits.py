"""Real job 1: the most edited articles of each part of Denmark and of all of it, every minute.

The paper's data set is the edit history of Wikipedia, which has no places: it assumes them evenly over Denmark, and so
do we. Its three operators are geo hash, top k and global top k; Spark needs two aggregations for a top k of counts, so
that there are four levels with state, and the geo hash, which keeps none, runs with the source.
"""

from __future__ import annotations

import collections
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
    from pyspark.sql import Column, DataFrame

DENMARK = ((54_560_000, 57_760_000), (8_070_000, 12_690_000))
"""Latitude and longitude, millionths of a degree."""
ALPHABET = "0123456789bcdefghjkmnpqrstuvwxyz"
LETTERS, TOP = 4, 5
SPAN_MS, WINDOW_MS, DELAY_MS = 30_000, 60_000, 10_000


def generate(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Few articles have most edits, others as time goes on; places are even; some edits come late."""
    since_ms, turn = START_MS, 0
    while True:
        articles = zipf(rng, 300, 1.0, rows, turn)
        latitudes, longitudes = (numbers(rng, *span, rows) for span in DENMARK)
        times = times_ms(rng, since_ms, SPAN_MS, rows, late_ratio=0.02, late_ms=90_000)
        yield {
            "edits": [
                {"article": articles[i], "latitude": latitudes[i], "longitude": longitudes[i], "at_ms": at_ms}
                for i, at_ms in enumerate(times)
            ]
        }
        since_ms, turn = since_ms + SPAN_MS, turn + 11


def hashed() -> Column:
    """The geo hash: bits of longitude and latitude by turns, longitude first, five to a letter."""
    bits = 5 * LETTERS
    longitude = F.expr(f"(longitude + 180000000L) * {2 ** (bits // 2)}L div 360000000L")
    latitude = F.expr(f"(latitude + 90000000L) * {2 ** (bits // 2)}L div 180000000L")
    letters = []
    for letter in range(LETTERS):
        value = F.lit(0).cast("long")
        for bit in range(5 * letter, 5 * letter + 5):
            axis = longitude if bit % 2 == 0 else latitude
            value = value * 2 + F.shiftright(axis, bits // 2 - 1 - bit // 2).bitwiseAND(F.lit(1).cast("long"))
        letters.append(F.lit(ALPHABET).substr((value + 1).cast("int"), F.lit(1)))
    return F.concat(*letters)


def top(column: str = "found") -> Column:
    """The TOP greatest of (edits, article)."""
    return F.slice(F.sort_array(F.collect_list(F.struct("edits", "article")), asc=False), 1, TOP).alias(column)


def build(read: Read) -> DataFrame:
    """Edits of an article in a place, the top of each place, their sums, the top of those."""
    edits = timed(read("edits"), DELAY_MS).withColumn("place", hashed())
    counts = edits.groupBy(F.window("at", "1 minute"), "place", "article").agg(F.count("*").alias("edits"))
    places = counts.groupBy("window", "place").agg(top()).select("window", F.explode("found").alias("one"))
    sums = places.groupBy("window", "one.article").agg(F.sum("one.edits").alias("edits"))
    best = sums.groupBy("window").agg(top()).select(ends(), F.posexplode("found").alias("rank", "one"))
    return best.select("ends_ms", "rank", "one.article", "one.edits")


def geohash(latitude: int, longitude: int) -> str:
    """The geo hash by halving, as it is usually told; millionths of a degree."""
    spans = [[-180_000_000.0, 180_000_000.0], [-90_000_000.0, 90_000_000.0]]
    text = ""
    for letter in range(LETTERS):
        value = 0
        for bit in range(5 * letter, 5 * letter + 5):
            span, at = spans[bit % 2], (longitude, latitude)[bit % 2]
            middle = (span[0] + span[1]) / 2
            upper = at >= middle
            span[0 if upper else 1] = middle
            value = 2 * value + upper
        text += ALPHABET[value]
    return text


def answer(taken: Sequence[Taken]) -> list[Rows]:
    """Counters of each window: of places, and of what their tops add up to."""
    when = marks(taken, (column("edits"), DELAY_MS))
    found = []
    for batch in closed(windowed(taken, when, "edits", WINDOW_MS, lambda one: [(None, [one])]), operator.iadd):
        found.append([(end, *row) for end, _, edits in batch for row in _global_top(edits)])
    return as_rows(found, "ends_ms", "rank", "article", "edits")


def _global_top(edits: Rows) -> Iterator[tuple[int, int, int]]:
    places: dict[str, collections.Counter[int]] = collections.defaultdict(collections.Counter)
    for one in edits:
        places[geohash(one["latitude"], one["longitude"])][one["article"]] += 1
    sums: collections.Counter[int] = collections.Counter()
    for counts in places.values():
        for article, count in _best(counts):
            sums[article] += count
    yield from ((rank, article, count) for rank, (article, count) in enumerate(_best(sums)))


def _best(counts: collections.Counter[int]) -> list[tuple[int, int]]:
    return sorted(counts.items(), key=lambda one: (one[1], one[0]), reverse=True)[:TOP]


JOBS = (
    Job(
        name="albic-1",
        source="ALBIC, section 5.2, real job 1",
        about="most edited articles of places and of all, by the minute: two tops of counts, one after another",
        streams={"edits": "article long, latitude long, longitude long, at_ms long"},
        generate=generate,
        queries=(Query(name="top-articles", build=build, answer=answer),),
    ),
)
