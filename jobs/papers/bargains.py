"""The bargain index of IBM Streams: which quotes ask for less than a symbol is traded for on average.

The paper on blocking rates runs on IBM Streams and describes no finance application, so this is the published one of
that platform: SPADE (Gedik, Andrade, Wu, Yu, Doo, SIGMOD 2008) and IBM's sample "VWAP". Theirs are the two streams, the
volume-weighted average price (VWAP) of a symbol, sum(price * volume) / sum(volume), its join with quotes, and the index
size * exp(VWAP - ask) of a quote whose ask is below it. Their window is the newest trades by count, or an interval of
event time (sample "VwapEventTime"); ours is the latter. That a quote is judged by the trades of its own interval, the
interval's length, whole cents, an index without its fraction, symbols, prices and rates are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F

from jobs.chance import START_MS, numbers, times_ms, zipf
from jobs.job import Batch, Job, Query, Read, Row, Rows, Taken
from jobs.timed import ends, timed
from jobs.watermarks import add_pairs, closed, column, marks, windowed, windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SYMBOLS, QUOTES_PER_TRADE = 80, 2
SPAN_MS, WINDOW_MS, DELAY_MS = 5_000, 10_000, 2_000
STREAMS = {
    "trades": "symbol string, price long, volume long, at_ms long",
    "quotes": "quote long, symbol string, ask long, size long, at_ms long",
}
"""Prices in cents."""
Prices = np.ndarray[tuple[int], np.dtype[np.int64]]
"""Of each symbol."""


def generate(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Few symbols are traded most, others as time goes on; prices walk, asks lie around them; some rows come late."""
    count = max(1, rows // (1 + QUOTES_PER_TRADE))
    prices = rng.integers(2_000, 20_000, SYMBOLS)
    since_ms, turn, quote = START_MS, 0, 0
    while True:
        trades = [
            {"symbol": f"S{symbol}", "price": price, "volume": volume, "at_ms": at_ms}
            for symbol, price, volume, at_ms in _orders(rng, prices, count, since_ms, turn)
        ]
        quotes = [
            {"quote": quote + i, "symbol": f"S{symbol}", "ask": price + 8, "size": size, "at_ms": at_ms}
            for i, (symbol, price, size, at_ms) in enumerate(
                _orders(rng, prices, QUOTES_PER_TRADE * count, since_ms, turn)
            )
        ]
        yield {"trades": trades, "quotes": quotes}
        prices = np.maximum(1_000, prices + rng.integers(-10, 11, SYMBOLS))
        since_ms, turn, quote = since_ms + SPAN_MS, turn + 3, quote + len(quotes)


def _orders(
    rng: np.random.Generator, prices: Prices, count: int, since_ms: int, turn: int
) -> Iterator[tuple[int, int, int, int]]:
    """Symbol, price, size, time; within 30 cents of the symbol's price, so that an index stays a number to add up."""
    symbols, sizes = zipf(rng, SYMBOLS, 1.0, count, turn), numbers(rng, 1, 1_000, count)
    apart = numbers(rng, -30, 31, count)
    times = times_ms(rng, since_ms, SPAN_MS, count, late_ratio=0.02, late_ms=4 * SPAN_MS)
    for symbol, cents, size, at_ms in zip(symbols, apart, sizes, times, strict=True):
        yield symbol, int(prices[symbol]) + cents, size, at_ms


def build(read: Read) -> DataFrame:
    """Quotes below the VWAP of their symbol and interval: an aggregation, joined."""
    per_window = timed(read("trades"), DELAY_MS).groupBy(F.window("at", "10 seconds").alias("traded_in"), "symbol")
    means = per_window.agg(F.expr("sum(price * volume) div sum(volume)").alias("vwap"))
    means = means.withColumnRenamed("symbol", "traded")
    quotes = timed(read("quotes"), DELAY_MS).withColumn("window", F.window("at", "10 seconds"))
    same = (F.col("symbol") == F.col("traded")) & (F.col("window") == F.col("traded_in"))
    bargains = quotes.join(means, same).where(F.col("ask") < F.col("vwap"))
    index = F.expr("cast(floor(size * exp((vwap - ask) / 100D)) as long)").alias("index")
    return bargains.select("quote", "symbol", ends(), "ask", "vwap", index)


def answer(taken: Sequence[Taken]) -> list[Rows]:
    """An interval's VWAP is known when it closes; all of its quotes have been seen by then."""
    when = marks(taken, (column("trades"), DELAY_MS), (column("quotes"), DELAY_MS))
    arrivals = windowed(
        taken, when, "trades", WINDOW_MS, lambda one: [(one["symbol"], (one["price"] * one["volume"], one["volume"]))]
    )
    quotes: dict[tuple[int, str], Rows] = {}
    found = []
    for mark, batch, traded in zip(when, taken, closed(arrivals, add_pairs), strict=True):
        for one in batch.rows.get("quotes", ()):
            (end,) = windows(one["at_ms"], WINDOW_MS)
            if end > mark.late_ms:
                quotes.setdefault((end, one["symbol"]), []).append(one)
        means = ((end, symbol, value // volume) for end, symbol, (value, volume) in traded)
        found.append(
            [
                _bargain(one, end, vwap)
                for end, symbol, vwap in means
                for one in quotes.get((end, symbol), ())
                if one["ask"] < vwap
            ]
        )
    return found


def _bargain(quote: Row, ends_ms: int, vwap: int) -> Row:
    index = math.floor(quote["size"] * math.exp((vwap - quote["ask"]) / 100))
    facts = {name: quote[name] for name in ("quote", "symbol", "ask")}
    return {**facts, "ends_ms": ends_ms, "vwap": vwap, "index": index}


JOBS = (
    Job(
        name="vwap-bargains",
        source="IBM Streams, sample VWAP (SPADE, 2008)",
        about="asks below the volume-weighted average price of trades: an aggregation, joined with quotes",
        streams=STREAMS,
        generate=generate,
        queries=(Query(name="bargains", build=build, answer=answer),),
    ),
)
