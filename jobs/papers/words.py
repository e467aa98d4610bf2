"""The word count of the paper on ELB and CLB, section 5.2: each word, each minute.

The paper counts words of 29 hours of tweets, which are not public. Ours have words with Zipf's frequencies, and every
now and then something happens that everybody writes about.
"""

from __future__ import annotations

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

WORDS, LONGEST = 3_000, 14
SPAN_MS, WINDOW_MS, DELAY_MS = 30_000, 60_000, 10_000
HAPPENS_RATIO = 0.2
"""Tweets about what happens, once it does."""


def generate(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Tweets of up to 14 words; from the third of each four batches on a fifth of them has one word more."""
    since_ms, batch = START_MS, 0
    while True:
        lengths = numbers(rng, 3, LONGEST, rows)
        words = zipf(rng, WORDS, 1.0, sum(lengths))
        happens = rng.random(rows) < (HAPPENS_RATIO if batch % 4 > 1 else 0.0)
        tweets, first = [], 0
        times = times_ms(rng, since_ms, SPAN_MS, rows, late_ratio=0.02, late_ms=90_000)
        for i, at_ms in enumerate(times):
            text = " ".join(f"word{word}" for word in words[first : first + lengths[i]])
            tweets.append({"text": text + (f" event{batch // 4}" if happens[i] else ""), "at_ms": at_ms})
            first += lengths[i]
        yield {"tweets": tweets}
        since_ms, batch = since_ms + SPAN_MS, batch + 1


def build(read: Read) -> DataFrame:
    """Occurrences of each word and minute."""
    words = timed(read("tweets"), DELAY_MS).select("at", F.explode(F.split("text", " ")).alias("word"))
    counts = words.groupBy(F.window("at", "1 minute"), "word").agg(F.count("*").alias("times"))
    return counts.select("word", ends(), "times")


def answer(taken: Sequence[Taken]) -> list[Rows]:
    """Words of each minute that has closed."""
    when = marks(taken, (column("tweets"), DELAY_MS))
    arrivals = windowed(taken, when, "tweets", WINDOW_MS, lambda tweet: [(word, 1) for word in tweet["text"].split()])
    counts = closed(arrivals, operator.add)
    return as_rows(([(word, end, n) for end, word, n in some] for some in counts), "word", "ends_ms", "times")


JOBS = (
    Job(
        name="clb-words",
        source="ELB and CLB, section 5.2",
        about="words of tweets by the minute",
        streams={"tweets": "text string, at_ms long"},
        generate=generate,
        queries=(Query(name="words", build=build, answer=answer),),
    ),
)
