"""Queries 3 and 8: people and what they sell."""

from __future__ import annotations

import collections
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jobs.job import Query, Read, Row, Rows, Taken
from jobs.nexmark.events import DELAY_MS
from jobs.timed import ends, timed
from jobs.watermarks import closed, column, marks, windowed, windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NEAR, CATEGORY = ("OR", "ID", "CA"), 10
WINDOW_MS = 10_000


def build_3(read: Read) -> DataFrame:
    """Who sells in category 10 in Oregon, Idaho and California: a join whose state has no end."""
    people = read("persons").where(F.col("state").isin(*NEAR)).withColumnRenamed("id", "person")
    items = read("auctions").where(F.col("category") == CATEGORY)
    return people.join(items, F.col("person") == F.col("seller")).select("name", "city", "state", F.col("id"))


def answer_3(taken: Sequence[Taken]) -> list[Rows]:
    """Each pair comes with whichever of the two came last."""
    people: dict[int, Row] = {}
    items: dict[int, list[int]] = collections.defaultdict(list)
    found = []
    for batch in taken:
        new = {one["id"]: one for one in batch.rows.get("persons", ()) if one["state"] in NEAR}
        sold = [one for one in batch.rows.get("auctions", ()) if one["category"] == CATEGORY]
        pairs = [(one, item) for person, one in new.items() for item in items[person]]
        people |= new
        for one in sold:
            items[one["seller"]].append(one["id"])
        pairs += [(people[one["seller"]], one["id"]) for one in sold if one["seller"] in people]
        found.append([{**{k: who[k] for k in ("name", "city", "state")}, "id": item} for who, item in pairs])
    return found


def build_8(read: Read) -> DataFrame:
    """Who came and sold something within the same 10 seconds: an aggregation whose windows are joined with people."""
    per_window = timed(read("auctions"), DELAY_MS).groupBy(F.window("at", "10 seconds").alias("sold_in"), "seller")
    sold = per_window.agg(F.count("*").alias("items"))
    people = timed(read("persons"), DELAY_MS).select("id", "name", F.window("at", "10 seconds").alias("window"))
    same = (F.col("id") == F.col("seller")) & (F.col("window") == F.col("sold_in"))
    return people.join(sold, same).select("id", "name", ends(), "items")


def answer_8(taken: Sequence[Taken]) -> list[Rows]:
    """A window's sellers are known when it closes; everybody who came in it has been seen by then."""
    when = marks(taken, (column("auctions"), DELAY_MS), (column("persons"), DELAY_MS))
    arrivals = windowed(taken, when, "auctions", WINDOW_MS, lambda one: [(one["seller"], 1)])
    people: dict[tuple[int, int], str] = {}
    found = []
    for mark, batch, sold in zip(when, taken, closed(arrivals, operator.add), strict=True):
        came = [(windows(one["at_ms"], WINDOW_MS)[0], one) for one in batch.rows.get("persons", ())]
        people |= {(end, one["id"]): one["name"] for end, one in came if end > mark.late_ms}
        found.append(
            [
                {"id": seller, "name": people[end, seller], "ends_ms": end, "items": items}
                for end, seller, items in sold
                if (end, seller) in people
            ]
        )
    return found


QUERY_3 = Query(name="local-items", build=build_3, answer=answer_3)
QUERY_8 = Query(name="new-sellers", build=build_8, answer=answer_8)
