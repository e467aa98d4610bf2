"""Which queries wait for data: seen between two batches again and again, while no batch ends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from streamjob_agent.bridge import Query

LASTS_S = 10.0
"""Seconds for which a look counts: a query that waits is often just looking for data, one in a batch never rests."""


class Rests:
    """Used by the agent's thread alone. `clock`: seconds, never going back."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._rested_s: dict[str, float] = {}

    def look(self, queries: Iterable[Query], ended: Collection[str]) -> frozenset[str]:
        """The queries that wait, `ended` those of which a batch has ended since the look before."""
        now_s, active = self._clock(), tuple(queries)
        known = {one: at_s for one, at_s in self._rested_s.items() if now_s - at_s <= LASTS_S and one not in ended}
        known |= {query.query_id: now_s for query in active if query.idle}
        self._rested_s = {query.query_id: known[query.query_id] for query in active if query.query_id in known}
        return frozenset(self._rested_s)
