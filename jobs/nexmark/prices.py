"""Queries 4 and 7: what was paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jobs.job import Query, Read, Row, Rows, Taken
from jobs.nexmark.events import DELAY_MS, LONGEST_MS
from jobs.timed import ends, timed
from jobs.watermarks import add_pairs, as_rows, closed, column, marks, windowed, windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WINDOW_MS = 10_000


def build_4(read: Read) -> DataFrame:
    """What auctions of a category that end in the same 10 seconds bring on average.

    Three levels: bids find their auction, auctions their highest bid, categories their mean. The watermark of auctions
    follows their ends, which lie up to 20 s ahead of them.
    """
    expiring = read("auctions").withColumn("ends", F.timestamp_millis("expires_ms"))
    items = expiring.withWatermark("ends", f"{LONGEST_MS + DELAY_MS} milliseconds").select(
        "id", "category", "ends", F.col("at_ms").alias("begins_ms"), "initial"
    )
    valid = F.expr(
        f"auction = id AND at_ms >= begins_ms AND price >= initial "
        f"AND at <= ends AND at >= ends - INTERVAL {LONGEST_MS // 1000} SECONDS"
    )
    offers = items.join(timed(read("bids"), DELAY_MS), valid).select("id", "category", "ends", "price")
    won = offers.groupBy(F.window("ends", "10 seconds"), "id", "category").agg(F.max("price").alias("price"))
    means = won.groupBy("window", "category").agg(F.sum("price").alias("total"), F.count("*").alias("auctions"))
    return means.select(ends(), "category", "auctions", F.expr("total div auctions").alias("mean"))


def answer_4(taken: Sequence[Taken]) -> list[Rows]:
    """Bids and auctions are kept while the other may come; a join that waits holds the watermark behind it back."""
    clocks = ((column("auctions", "expires_ms"), LONGEST_MS + DELAY_MS), (column("bids"), DELAY_MS))
    when = marks(taken, *clocks)
    behind = [mark.minus(LONGEST_MS + 1) for mark in when]
    items: dict[int, Row] = {}
    bids: dict[int, list[Row]] = {}
    offers = []
    for mark, batch in zip(when, taken, strict=True):
        new = {one["id"]: one for one in batch.rows.get("auctions", ()) if one["expires_ms"] > mark.late_ms}
        fresh = [one for one in batch.rows.get("bids", ()) if one["at_ms"] > mark.late_ms]
        pairs = [(item, bid) for key, item in new.items() for bid in bids.get(key, ())]
        items |= new
        pairs += [(items[bid["auction"]], bid) for bid in fresh if bid["auction"] in items]
        for bid in fresh:
            bids.setdefault(bid["auction"], []).append(bid)
        offers.append([(item, bid["price"]) for item, bid in pairs if _valid(item, bid)])
        items = {key: one for key, one in items.items() if one["expires_ms"] > mark.now_ms - 1}
        bids = {key: [one for one in some if one["at_ms"] > mark.now_ms - LONGEST_MS - 1] for key, some in bids.items()}
    priced = (
        [(windows(it["expires_ms"], WINDOW_MS)[0], (it["id"], it["category"]), price) for it, price in some]
        for some in offers
    )
    best = closed(zip(behind, priced, strict=True), max)
    sold = ([(end, category, (price, 1)) for end, (_, category), price in some] for some in best)
    means = closed(zip(behind, sold, strict=True), add_pairs)
    tuples = ([(end, key, count, total // count) for end, key, (total, count) in some] for some in means)
    return as_rows(tuples, "ends_ms", "category", "auctions", "mean")


def _valid(item: Row, bid: Row) -> bool:
    return bool(item["at_ms"] <= bid["at_ms"] <= item["expires_ms"] and bid["price"] >= item["initial"])


def build_7(read: Read) -> DataFrame:
    """The highest bid of each 10 seconds: one key, so one task has all of the work."""
    best = timed(read("bids"), DELAY_MS).groupBy(F.window("at", "10 seconds"))
    top = best.agg(F.max(F.struct("price", "bidder", "auction")).alias("top"))
    return top.select(ends(), "top.price", "top.bidder", "top.auction")


def answer_7(taken: Sequence[Taken]) -> list[Rows]:
    """The greatest (price, bidder, auction) of each window that closes."""
    when = marks(taken, (column("bids"), DELAY_MS))
    arrivals = windowed(
        taken, when, "bids", WINDOW_MS, lambda one: [(None, (one["price"], one["bidder"], one["auction"]))]
    )
    tuples = ([(end, *top) for end, _, top in some] for some in closed(arrivals, max))
    return as_rows(tuples, "ends_ms", "price", "bidder", "auction")


QUERY_4 = Query(name="mean-prices", build=build_4, answer=answer_4)
QUERY_7 = Query(name="highest-bids", build=build_7, answer=answer_7)
