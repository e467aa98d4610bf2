"""NEXMark's queries with state, as jobs."""

from __future__ import annotations

import functools

from jobs.job import Job, Query
from jobs.nexmark import counts, joins, prices
from jobs.nexmark.events import STREAMS, generate

_QUERIES: tuple[tuple[int, Query, str, tuple[str, ...]], ...] = (
    (3, joins.QUERY_3, "sellers of one category in three states: a join without end", ("persons", "auctions")),
    (4, prices.QUERY_4, "mean price by category: a join in time, the highest bid, the mean", ("auctions", "bids")),
    (5, counts.QUERY_5, "the auction with most bids in sliding windows: counts, then the top", ("bids",)),
    (7, prices.QUERY_7, "the highest bid of each window: one key", ("bids",)),
    (8, joins.QUERY_8, "people who came and sold in one window: an aggregation, joined", ("persons", "auctions")),
    (11, counts.QUERY_11, "bids of a bidder until a pause: sessions", ("bids",)),
    (12, counts.QUERY_12, "bids of a bidder by the cluster's clock: no event time", ("bids",)),
)
JOBS = tuple(
    Job(
        name=f"nexmark-{number}",
        source=f"NEXMark, query {number}",
        about=about,
        streams={name: STREAMS[name] for name in streams},
        generate=functools.partial(generate, streams=streams),
        queries=(query,),
    )
    for number, query, about, streams in _QUERIES
)
