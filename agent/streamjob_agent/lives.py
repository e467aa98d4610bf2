"""The life of a query, one for everybody: active, then ended but remembered for a restart, then forgotten."""

from __future__ import annotations

from collections.abc import Iterable

REMEMBERED = 16
"""Ended queries whose series, placement and newest assignment stay, those that ended last."""


class Lives:
    """Which queries there are. Used by the agent's thread alone."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._remembered = remembered
        self._known: dict[str, None] = {}  # the one that showed signs of life longest ago comes first
        self.active: frozenset[str] = frozenset()

    def look(self, active: Iterable[str], mentioned: Iterable[str]) -> frozenset[str]:
        """Take in one look at Spark; gives the queries that are to be forgotten now.

        `active` are the ids of the queries that run, `mentioned` those that measurements came from: a query may have
        ended before anybody saw it run, and one without state runs without being listed.
        """
        self.active = frozenset(active)
        for query_id in (*mentioned, *self.active):
            self._known.pop(query_id, None)
            self._known[query_id] = None
        ended = [query_id for query_id in self._known if query_id not in self.active]
        forgotten = frozenset(ended[: max(0, len(ended) - self._remembered)])
        self._known = {query_id: None for query_id in self._known if query_id not in forgotten}
        return forgotten
