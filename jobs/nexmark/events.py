"""NEXMark's auction site: 1 person, 3 auctions and 46 bids in each 50 events, with hot sellers, auctions and bidders.

Ratios are those of the benchmark as Beam and Flink generate it. There every second bid goes to one hot auction, three
in four bids come from one bidder, and three in four auctions are one seller's; ours go to the newest hundred of each by
Zipf's law. Names and prices are ours, too. Two in a hundred bids come late, some of them too late for their window.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from jobs.chance import START_MS, numbers, times_ms, zipf
from jobs.job import Batch, Rows

PERSONS, AUCTIONS, BIDS = 1, 3, 46
SHARES = {"persons": PERSONS, "auctions": AUCTIONS, "bids": BIDS}
STREAMS = {
    "persons": "id long, name string, city string, state string, at_ms long",
    "auctions": "id long, seller long, category long, initial long, at_ms long, expires_ms long",
    "bids": "auction long, bidder long, price long, at_ms long",
}
STATES = (("OR", "Portland"), ("ID", "Boise"), ("CA", "Palo Alto"), ("WA", "Seattle"), ("AZ", "Phoenix"))
CATEGORIES = 5
SPAN_MS = 5_000
"""Event time that a batch covers."""
LONGEST_MS = 20_000
"""An auction lasts 2 s up to this."""
DELAY_MS = 2_000
"""How late the queries expect rows to be."""


def generate(rng: np.random.Generator, rows: int, streams: Collection[str] = tuple(STREAMS)) -> Iterator[Batch]:
    """Batches without end, of which `streams` have about `rows` rows together."""
    unit = max(1, rows // sum(SHARES[one] for one in streams))
    people, sold = 0, 0
    since_ms = START_MS
    while True:
        persons = _persons(rng, people, PERSONS * unit + 1, since_ms)
        people += len(persons)
        auctions = _auctions(rng, sold, AUCTIONS * unit, people, since_ms)
        sold += len(auctions)
        bids = _bids(rng, sold, BIDS * unit, people, since_ms) if "bids" in streams else []
        yield {"persons": persons, "auctions": auctions, "bids": bids}
        since_ms += SPAN_MS


def _persons(rng: np.random.Generator, first: int, count: int, since_ms: int) -> Rows:
    places = [STATES[one] for one in numbers(rng, 0, len(STATES), count)]
    return [
        {"id": first + i, "name": f"person {first + i}", "city": places[i][1], "state": places[i][0], "at_ms": at_ms}
        for i, at_ms in enumerate(times_ms(rng, since_ms, SPAN_MS, count))
    ]


def _auctions(rng: np.random.Generator, first: int, count: int, people: int, since_ms: int) -> Rows:
    lasts_ms = numbers(rng, 2_000, LONGEST_MS, count)
    sellers, categories = _recent(rng, people, count), numbers(rng, 10, 10 + CATEGORIES, count)
    initial = numbers(rng, 100, 10_000, count)
    return [
        {
            "id": first + i,
            "seller": sellers[i],
            "category": categories[i],
            "initial": initial[i],
            "at_ms": at_ms,
            "expires_ms": at_ms + lasts_ms[i],
        }
        for i, at_ms in enumerate(times_ms(rng, since_ms, SPAN_MS, count))
    ]


def _bids(rng: np.random.Generator, auctions: int, count: int, people: int, since_ms: int) -> Rows:
    items, bidders = _recent(rng, auctions, count), _recent(rng, people, count)
    prices = [int(100 * one) for one in rng.lognormal(4.0, 1.5, count)]
    times = times_ms(rng, since_ms, SPAN_MS, count, late_ratio=0.02, late_ms=4 * SPAN_MS)
    return [
        {"auction": items[i], "bidder": bidders[i], "price": prices[i], "at_ms": at_ms} for i, at_ms in enumerate(times)
    ]


def _recent(rng: np.random.Generator, known: int, count: int) -> list[int]:
    """Numbers below `known`, the newest ones by far the most often: what is hot changes as new ones come."""
    return [known - 1 - back for back in zipf(rng, min(known, 100), 1.0, count)]
