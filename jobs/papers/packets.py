"""Network traffic, as the dissertation on ROD monitors it: who sends many small packets, and several resolutions.

*rod-senders* is its figure 2.1: two aggregations of endpoints by the second, a filter behind each, and a join. The
query of section 6.1.5 has 16 aggregates over a TCP trace: number and mean size of packets, by source and by pair, for
each second and minute, and for the newest ten seconds and minute. *rod-resolutions* has them in eight operators, since
one of Spark's makes both aggregates. The trace is of the Internet Traffic Archive; our packets have skewed sources and
bursts.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F

from jobs.chance import START_MS, numbers, times_ms, zipf
from jobs.job import Batch, Job, Query, Read, Row, Rows, Taken
from jobs.timed import ends, timed
from jobs.watermarks import add_pairs, as_rows, closed, column, marks, windowed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SPAN_MS, DELAY_MS = 10_000, 1_000
MANY, SMALL_BYTES = 4, 400
RESOLUTIONS_MS = ((1_000, 1_000), (60_000, 60_000), (10_000, 5_000), (60_000, 30_000))
"""Size and slide: each second, each minute, the newest ten seconds and the newest minute."""
STREAMS = {"packets": "source long, source_port long, target long, target_port long, bytes long, at_ms long"}


def generate(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Packets; every third batch has a burst of small ones from one source within a second."""
    since_ms, batch = START_MS, 0
    while True:
        burst = rows // 5 if batch % 3 == 1 else 0
        packets = _packets(rng, rows - burst, since_ms, batch) + _burst(rng, burst, since_ms, batch)
        yield {"packets": packets}
        since_ms, batch = since_ms + SPAN_MS, batch + 1


def _packets(rng: np.random.Generator, count: int, since_ms: int, batch: int) -> Rows:
    sources, targets = zipf(rng, 120, 1.1, count, 7 * batch), zipf(rng, 300, 0.8, count, 3 * batch)
    ports, sizes = numbers(rng, 0, 2, count), numbers(rng, 40, 1_500, count)
    times = times_ms(rng, since_ms, SPAN_MS, count, late_ratio=0.01, late_ms=70_000)
    return [_packet(sources[i], ports[i], targets[i], sizes[i], at_ms) for i, at_ms in enumerate(times)]


def _burst(rng: np.random.Generator, count: int, since_ms: int, batch: int) -> Rows:
    times = times_ms(rng, since_ms + SPAN_MS // 2, 1_000, count)
    return [_packet(500 + batch, 0, int(rng.integers(300)), 40 + i % 60, at_ms) for i, at_ms in enumerate(times)]


def _packet(source: int, port: int, target: int, size: int, at_ms: int) -> Row:
    return {
        "source": source,
        "source_port": 40_000 + port,
        "target": target,
        "target_port": 443,
        "bytes": size,
        "at_ms": at_ms,
    }


def build_senders(read: Read) -> DataFrame:
    """Endpoints with many packets in a second that are small on average."""
    packets = timed(read("packets"), DELAY_MS)
    second = F.window("at", "1 second")
    counts = packets.groupBy(second, "source", "source_port").agg(F.count("*").alias("packets"))
    sizes = packets.groupBy(second.alias("of"), F.col("source").alias("from"), F.col("source_port").alias("port")).agg(
        F.expr("sum(bytes) div count(*)").alias("mean_bytes")
    )
    many, small = counts.where(F.col("packets") >= MANY), sizes.where(F.col("mean_bytes") <= SMALL_BYTES)
    same = (
        (F.col("window") == F.col("of")) & (F.col("source") == F.col("from")) & (F.col("source_port") == F.col("port"))
    )
    return many.join(small, same).select("source", "source_port", ends(), "packets", "mean_bytes")


def answer_senders(taken: Sequence[Taken]) -> list[Rows]:
    """One aggregation is enough here: both filters look at the same packets."""
    when = marks(taken, (column("packets"), DELAY_MS))
    arrivals = windowed(
        taken, when, "packets", 1_000, lambda one: [((one["source"], one["source_port"]), (1, one["bytes"]))]
    )
    tuples = (
        [(*key, end, n, size // n) for end, key, (n, size) in some if n >= MANY and size // n <= SMALL_BYTES]
        for some in closed(arrivals, add_pairs)
    )
    return as_rows(tuples, "source", "source_port", "ends_ms", "packets", "mean_bytes")


def build_resolutions(read: Read) -> DataFrame:
    """All of them in one query."""
    packets = timed(read("packets"), DELAY_MS)
    parts = [
        _resolution(packets, size_ms, slide_ms, by_pair) for size_ms, slide_ms in RESOLUTIONS_MS for by_pair in (0, 1)
    ]
    return functools.reduce(lambda one, other: one.unionByName(other), parts)


def _resolution(packets: DataFrame, size_ms: int, slide_ms: int, by_pair: int) -> DataFrame:
    target = F.col("target") if by_pair else F.lit(-1).cast("long")
    window = F.window("at", f"{size_ms} milliseconds", f"{slide_ms} milliseconds")
    sums = packets.groupBy(window, "source", target.alias("target"))
    found = sums.agg(F.count("*").alias("packets"), F.expr("sum(bytes) div count(*)").alias("mean_bytes"))
    what = F.lit(f"{size_ms}/{slide_ms}").alias("resolution")
    return found.select(what, "source", "target", ends(), "packets", "mean_bytes")


def answer_resolutions(taken: Sequence[Taken]) -> list[Rows]:
    """Each resolution by itself."""
    when = marks(taken, (column("packets"), DELAY_MS))
    found: list[list[tuple[object, ...]]] = [[] for _ in taken]
    for size_ms, slide_ms in RESOLUTIONS_MS:
        for by_pair in (False, True):
            arrivals = windowed(taken, when, "packets", size_ms, _by_pair if by_pair else _by_source, slide_ms)
            for out, some in zip(found, closed(arrivals, add_pairs), strict=True):
                out += [(f"{size_ms}/{slide_ms}", *key, end, n, size // n) for end, key, (n, size) in some]
    return as_rows(found, "resolution", "source", "target", "ends_ms", "packets", "mean_bytes")


def _by_source(packet: Row) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    return [((packet["source"], -1), (1, packet["bytes"]))]


def _by_pair(packet: Row) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    return [((packet["source"], packet["target"]), (1, packet["bytes"]))]


JOBS = (
    Job(
        name="rod-senders",
        source="ROD, section 2.1.2, figure 2.1",
        about="who sends many small packets: two aggregations, joined",
        streams=STREAMS,
        generate=generate,
        queries=(Query(name="senders", build=build_senders, answer=answer_senders),),
    ),
    Job(
        name="rod-resolutions",
        source="ROD, section 6.1, traffic monitoring",
        about="packets in four resolutions, by source and by pair: eight aggregations side by side",
        streams=STREAMS,
        generate=generate,
        queries=(Query(name="resolutions", build=build_resolutions, answer=answer_resolutions),),
    ),
)
