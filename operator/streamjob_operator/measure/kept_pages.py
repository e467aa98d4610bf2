"""The pages of one driver's queries, as many as there is room for."""

from __future__ import annotations

from collections.abc import Mapping

from streamjob_operator.measure.page import Page
from streamjob_operator.measure.query_pages import QueryPages
from streamjob_operator.measure.room import Room, bytes_of
from streamjob_operator.measure.thinning import LEAST_PAGES
from streamjob_operator.ports import Unavailable
from streamjob_planners.advice.sentences import amount


class KeptPages:
    """`together`: of all queries of the driver; else of the one with most key groups. Not for several threads at once.

    `thinned_at_s` is when pages had to go last, None for never.
    """

    def __init__(self, window_s: float, room: Room, *, together: bool) -> None:
        self.thinned_at_s: float | None = None
        self._window_s = window_s
        self._room = room
        self._together = together
        self._queries: dict[str, QueryPages] = {}

    @property
    def queries(self) -> Mapping[str, QueryPages]:
        """By query id, that with most key groups first."""
        return self._queries

    def keep(self, window_s: float) -> None:
        """Keep pages for windows of so many seconds from now on."""
        self._window_s = window_s
        for pages in self._queries.values():
            pages.ring.keep(horizon_s(window_s))

    def add(self, scraped: tuple[Page, ...], beside_bytes: int) -> None:
        """Take in what one scrape saw, that of the query with most key groups first; raises Unavailable where it is too
        large, and keeps nothing then. So many bytes are kept beside pages."""
        pages, known = scraped if self._together else scraped[:1], self._queries
        self._queries = {}
        try:
            self._check(bytes_of(pages), beside_bytes)
            self._queries = {page.query_id: known.get(page.query_id) or self._begun() for page in pages}
            for page, query in zip(pages, self._queries.values(), strict=True):
                query.add(page)
            self._fit(pages[0].at_s, beside_bytes)
        finally:
            self._room.take(self, beside_bytes + self._held_bytes())

    def _begun(self) -> QueryPages:
        return QueryPages(horizon_s(self._window_s))

    def _check(self, size_bytes: int, beside_bytes: int) -> None:
        room, least_bytes = self._room, beside_bytes + LEAST_PAGES * size_bytes
        if size_bytes > room.most_page_bytes:
            raise Unavailable(
                f"The agent's page is too large to be kept: it would take {amount(size_bytes)}, and "
                f"{amount(room.most_page_bytes)} are allowed, a quarter of what all jobs of this operator share"
                f"{room.share_of}."
            )
        if room.refuses(self, least_bytes):
            raise Unavailable(
                f"The agent's pages cannot be kept: {LEAST_PAGES} of them take {amount(least_bytes)}, and pages of "
                f"this operator's jobs take twice as much as there should be, {amount(room.most_bytes)}{room.share_of}."
            )

    def _fit(self, now_s: float, beside_bytes: int) -> None:
        """Into the room that there is, each query by what its pages hold."""
        sizes_bytes = [query.size_bytes for query in self._queries.values()]
        held_bytes, allowed_bytes = sum(sizes_bytes), self._room.allowed_bytes(self) - beside_bytes
        if held_bytes > allowed_bytes:
            self.thinned_at_s = now_s
            for query, size_bytes in zip(self._queries.values(), sizes_bytes, strict=True):
                query.fit(allowed_bytes * size_bytes / held_bytes, self._window_s)

    def _held_bytes(self) -> int:
        return sum(query.size_bytes for query in self._queries.values())


def horizon_s(window_s: float) -> float:
    """For how long pages are kept."""
    return 3 * window_s + 60.0
