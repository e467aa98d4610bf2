"""Card payments that look stolen: two queries with state of their own, `transformWithStateInPandas`.

*Tested cards*: a tiny payment, then a large one within a minute; a timer forgets the tiny one. *New shops*: more
than four shops that the card has not been to within an hour, which a time to live forgets. Spark has timers of
event time and times to live of the clock's time, never both in one operator, so these are two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from jobs.chance import START_MS, numbers, times_ms, zipf
from jobs.job import Batch, Job, Query, Read, Row, Rows, Taken
from jobs.timed import timed
from jobs.watermarks import column, marks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SPAN_MS, DELAY_MS, REMEMBERED_MS, LIVES_MS = 30_000, 5_000, 60_000, 3_600_000
TINY, LARGE, SHOPS = 200, 50_000, 4
"""Amounts in cents; shops that a card may be new to."""


def generate(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Payments, most by few cards; one in eight is tiny, one in eight large, two in a hundred come late."""
    since_ms, number = START_MS, 0
    while True:
        cards, shops = zipf(rng, 150, 0.8, rows, number // 300), zipf(rng, 60, 1.0, rows, number // 1000)
        kinds, cents = numbers(rng, 0, 8, rows), numbers(rng, 300, 40_000, rows)
        times = times_ms(rng, since_ms, SPAN_MS, rows, late_ratio=0.02, late_ms=40_000)
        yield {
            "payments": [
                {
                    "payment": number + i,
                    "card": cards[i],
                    "shop": shops[i],
                    "cents": {0: 100, 1: LARGE + cents[i]}.get(kinds[i], cents[i]),
                    "at_ms": at_ms,
                }
                for i, at_ms in enumerate(times)
            ]
        }
        since_ms, number = since_ms + SPAN_MS, number + rows


def in_order(frames: Iterator[pd.DataFrame]) -> Iterator[Any]:
    """A key's rows of a batch by their time, whatever order they came in."""
    yield from pd.concat(list(frames)).sort_values(["at_ms", "payment"]).itertuples()


class TestedCards(StatefulProcessor):
    """A card's newest tiny payment, and a timer that forgets it."""

    def init(self, handle: Any) -> None:
        """State of Spark's."""
        self._handle = handle
        self._tiny = handle.getValueState("tiny", "at_ms long")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timers: Any) -> Iterator[pd.DataFrame]:  # noqa: N802 - Spark's
        """Alarms of a card's payments."""
        tiny_ms = self._tiny.get()[0] if self._tiny.exists() else None
        alarms = []
        for row in in_order(rows):
            if row.cents <= TINY:
                tiny_ms = int(row.at_ms)
                self._handle.registerTimer(tiny_ms + REMEMBERED_MS)
            elif row.cents >= LARGE and tiny_ms is not None and row.at_ms - tiny_ms < REMEMBERED_MS:
                alarms.append((key[0], row.payment, "tested"))
        if tiny_ms is not None:
            self._tiny.update((tiny_ms,))
        yield pd.DataFrame(alarms, columns=["card", "payment", "rule"])

    def handleExpiredTimer(  # noqa: N802 - Spark's
        self,
        key: Any,
        timerValues: Any,  # noqa: N803 - Spark gives them by these names
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Forget the tiny payment, if it is the one whose time is over, and say so."""
        over_ms = expiredTimerInfo.getExpiryTimeInMs()
        if self._tiny.exists() and self._tiny.get()[0] + REMEMBERED_MS <= over_ms:
            self._tiny.clear()
            yield pd.DataFrame({"card": [key[0]], "payment": [over_ms], "rule": ["forgotten"]})

    def close(self) -> None:
        """Nothing is held."""


def build_tested(read: Read) -> DataFrame:
    """Alarms, and the end of each memory with its time in place of a payment."""
    payments = timed(read("payments"), DELAY_MS).groupBy("card")
    schema = "card long, payment long, rule string"
    return payments.transformWithStateInPandas(TestedCards(), schema, "Append", "EventTime")


def answer_tested(taken: Sequence[Taken]) -> list[Rows]:
    """The same rule with a dict; timers fire once the watermark is there, after the rows of the batch."""
    tiny: dict[int, int] = {}
    timers: set[tuple[int, int]] = set()
    found = []
    for mark, batch in zip(marks(taken, (column("payments"), DELAY_MS)), taken, strict=True):
        out: list[tuple[int, int, str]] = []
        for row in _sorted([one for one in batch.rows.get("payments", ()) if one["at_ms"] > mark.late_ms]):
            card, at_ms = row["card"], row["at_ms"]
            if row["cents"] <= TINY:
                tiny[card] = at_ms
                timers.add((at_ms + REMEMBERED_MS, card))
            elif row["cents"] >= LARGE and card in tiny and at_ms - tiny[card] < REMEMBERED_MS:
                out.append((card, row["payment"], "tested"))
        for over_ms, card in sorted(one for one in timers if one[0] <= mark.now_ms):
            timers.remove((over_ms, card))
            if card in tiny and tiny[card] + REMEMBERED_MS <= over_ms:
                del tiny[card]
                out.append((card, over_ms, "forgotten"))
        found.append([{"card": card, "payment": payment, "rule": rule} for card, payment, rule in out])
    return found


class NewShops(StatefulProcessor):
    """Shops that a card has been to."""

    def init(self, handle: Any) -> None:
        """State of Spark's, each shop with a life of its own."""
        self._shops = handle.getMapState("shops", "shop long", "payments long", ttlDurationMs=LIVES_MS)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timers: Any) -> Iterator[pd.DataFrame]:  # noqa: N802 - Spark's
        """An alarm for each shop beyond the fourth."""
        alarms, known = [], {int(shop[0]): int(count[0]) for shop, count in self._shops.iterator()}
        for row in in_order(rows):
            known[int(row.shop)] = known.get(int(row.shop), 0) + 1
            if len(known) > SHOPS and known[int(row.shop)] == 1:
                alarms.append((key[0], row.payment, len(known)))
        for shop, count in known.items():
            self._shops.updateValue((shop,), (count,))
        yield pd.DataFrame(alarms, columns=["card", "payment", "shops"])

    def close(self) -> None:
        """Nothing is held."""


def build_shops(read: Read) -> DataFrame:
    """Payments at shops that are new to a card which has been to enough of them."""
    payments = read("payments").groupBy("card")
    schema = "card long, payment long, shops long"
    return payments.transformWithStateInPandas(NewShops(), schema, "Append", "ProcessingTime")


def answer_shops(taken: Sequence[Taken]) -> list[Rows]:
    """A run takes less than an hour, so that no shop is forgotten; ValueError for one that took longer."""
    if taken and taken[-1].clock_ms - taken[0].clock_ms >= LIVES_MS:
        raise ValueError("fraud: the run took an hour or more, shops' times to live are over; no answer is known.")
    known: dict[int, dict[int, int]] = {}
    found = []
    for batch in taken:
        out = []
        for row in _sorted(batch.rows.get("payments", ())):
            shops = known.setdefault(row["card"], {})
            shops[row["shop"]] = shops.get(row["shop"], 0) + 1
            if len(shops) > SHOPS and shops[row["shop"]] == 1:
                out.append({"card": row["card"], "payment": row["payment"], "shops": len(shops)})
        found.append(out)
    return found


def _sorted(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["at_ms"], row["payment"]))


JOBS = (
    Job(
        name="fraud",
        source="daily use",
        about="rules on card payments: state of one's own with timers, and with times to live",
        streams={"payments": "payment long, card long, shop long, cents long, at_ms long"},
        generate=generate,
        queries=(
            Query(name="tested-cards", build=build_tested, answer=answer_tested),
            Query(name="new-shops", build=build_shops, answer=answer_shops),
        ),
    ),
)
