"""A made job whose two stages talk one to one, all of it or half: the shapes of the ALBIC paper's real jobs 2 and 3.

What Spark makes of the paper's own jobs has nothing to gather: operators that are keyed alike run in one task, and
without state in the task of the source. Here every key of a key group of the first stage becomes one key of one key
group of the second, by a key that Spark cannot know to be the same, and with each goes a payload. In `half` every other
row goes to keys that lie in all key groups, as in job 3 the delays by route do.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jobs.job import Rows
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

SHAPES = ("pairs", "half")
KEYS = 4
"""Of each key group of a stage."""
STRIDE = 7
DIGEST = 64
"""Characters of a payload that are told: it is one digest again and again."""
LOOKED_AT = 40
"""Numbers looked at for each key that is wanted: enough that no key group finds too few."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """Keys of the first stage by their index; for each the keys of the second that it becomes, in one row or in two."""

    first: tuple[int, ...]
    second: tuple[tuple[int, ...], ...]
    payload_bytes: int


def talk(keys: Sequence[Sequence[int]], shape: str, payload_bytes: int, seed: int) -> Talk:
    """`keys[p]` are keys of partition p, 2 * KEYS of them. A partition talks to one that chance has chosen."""
    partner = np.random.default_rng(seed).permutation(len(keys))
    first = [key for own in keys for key in own[:KEYS]]
    paired = [key for p in range(len(keys)) for key in keys[partner[p]][:KEYS]]
    spread = [key for own in keys for key in own[KEYS:]]
    second = []
    for at, key in enumerate(paired):
        other = spread[at * STRIDE % len(spread)]
        second.append((key, other) if shape == "half" else (key,))
    # Rows of half the size, where there are twice as many: as much is sent in both shapes.
    return Talk(first=tuple(first), second=tuple(second), payload_bytes=payload_bytes // len(second[0]))


def find_keys(spark: SparkSession, partitions: int) -> list[list[int]]:
    """The first 2 * KEYS numbers that Spark's hash gives to each partition."""
    ids = spark.range(partitions * KEYS * LOOKED_AT).select("id", F.expr(f"pmod(hash(id), {partitions}) as p"))
    found: list[list[int]] = [[] for _ in range(partitions)]
    for row in ids.collect():
        if len(found[row.p]) < 2 * KEYS:
            found[row.p].append(row.id)
    return found


def query(spark: SparkSession, made: Talk) -> DataFrame:
    """Each batch brings every key of the first stage once; rows (key, n, payload) come out."""
    count = len(made.first)
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", count).option("numPartitions", 2).load()
    rows = source.select(_at(made.first, F.col("value") % count).alias("key"))
    counted = rows.groupBy("key").agg(F.count("*").alias("n"))
    known = {key: list(others) for key, others in zip(made.first, made.second, strict=True)}
    others = F.create_map(
        *[F.lit(one) if isinstance(one, int) else _longs(one) for pair in known.items() for one in pair]
    )
    digest = F.sha2(F.concat_ws("-", F.col("key").cast("string"), F.col("n").cast("string")), 256)
    payload = F.repeat(digest, made.payload_bytes // DIGEST)
    sent = counted.select(F.explode(F.element_at(others, F.col("key"))).alias("other"), "n", payload.alias("payload"))
    newest = sent.groupBy("other").agg(F.max(F.struct("n", "payload")).alias("newest"))
    whole = F.length("newest.payload").alias("size")
    told = F.substring("newest.payload", 1, DIGEST).alias("begins")
    return newest.select(F.col("other").alias("key"), F.col("newest.n").alias("n"), whole, told)


def _at(values: Sequence[int], index: Column) -> Column:
    return F.element_at(F.array(*[F.lit(one).cast("long") for one in values]), (index + 1).cast("int"))


def _longs(values: Sequence[int]) -> Column:
    return F.array(*[F.lit(one).cast("long") for one in values])


def answer(made: Talk, batch: int) -> Rows:
    """The rows of a batch, counted from 0."""
    n = batch + 1
    rows = []
    for key, others in zip(made.first, made.second, strict=True):
        begins = hashlib.sha256(f"{key}-{n}".encode()).hexdigest()
        size = made.payload_bytes // DIGEST * DIGEST
        rows += [{"key": other, "n": n, "size": size, "begins": begins} for other in others]
    return rows
