"""Queries 5, 11 and 12: how many bids."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jobs.job import Query, Read, Rows, Taken
from jobs.nexmark.events import DELAY_MS
from jobs.sessions import ended
from jobs.timed import ends, timed
from jobs.watermarks import as_rows, changed, closed, column, marks, windowed, windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WINDOW_MS, SLIDE_MS = 10_000, 2_000


def build_5(read: Read) -> DataFrame:
    """The auction with the most bids of the last 10 seconds, every 2 seconds: counts, and the greatest of them."""
    counts = timed(read("bids"), DELAY_MS).groupBy(F.window("at", "10 seconds", "2 seconds"), "auction")
    bids = counts.agg(F.count("*").alias("bids"))
    hottest = bids.groupBy("window").agg(F.max(F.struct("bids", "auction")).alias("top"))
    return hottest.select(ends(), "top.auction", "top.bids")


def answer_5(taken: Sequence[Taken]) -> list[Rows]:
    """The higher number wins where two auctions have as many bids."""
    when = marks(taken, (column("bids"), DELAY_MS))
    bids = windowed(taken, when, "bids", WINDOW_MS, lambda one: [(one["auction"], 1)], SLIDE_MS)
    counts = ([(end, None, (n, auction)) for end, auction, n in some] for some in closed(bids, operator.add))
    tops = closed(zip(when, counts, strict=True), max)
    return as_rows(
        ([(end, auction, n) for end, _, (n, auction) in some] for some in tops), "ends_ms", "auction", "bids"
    )


def build_11(read: Read) -> DataFrame:
    """Bids of each bidder until a pause of 10 seconds: sessions."""
    sessions = timed(read("bids"), DELAY_MS).groupBy(F.session_window("at", "10 seconds"), "bidder")
    return sessions.agg(F.count("*").alias("bids")).select("bidder", "bids", ends("session_window"))


def answer_11(taken: Sequence[Taken]) -> list[Rows]:
    """Sessions that the watermark has passed."""
    when = marks(taken, (column("bids"), DELAY_MS))
    sessions = ended(taken, when, "bids", lambda one: (one["bidder"], one["at_ms"], WINDOW_MS, None))
    tuples = ([(key, len(values), end) for key, (_, end, values) in some] for some in sessions)
    return as_rows(tuples, "bidder", "bids", "ends_ms")


def build_12(read: Read) -> DataFrame:
    """Bids of each bidder in 10 seconds of the cluster's own clock."""
    counts = read("bids").groupBy(F.window(F.current_timestamp(), "10 seconds"), "bidder")
    return counts.agg(F.count("*").alias("bids")).select("bidder", "bids", ends())


def answer_12(taken: Sequence[Taken]) -> list[Rows]:
    """A batch's rows all have the batch's time."""
    arrivals = (
        [((one["bidder"], windows(batch.clock_ms, WINDOW_MS)[0]), 1) for one in batch.rows.get("bids", ())]
        for batch in taken
    )
    counts = changed(arrivals, operator.add)
    return as_rows(([(key, n, end) for (key, end), n in some.items()] for some in counts), "bidder", "bids", "ends_ms")


QUERY_5 = Query(name="hot-items", build=build_5, answer=answer_5)
QUERY_11 = Query(name="bid-sessions", build=build_11, answer=answer_11)
QUERY_12 = Query(name="bids-by-clock", build=build_12, answer=answer_12, output_mode="update")
