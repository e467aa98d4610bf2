"""Which pages of a query go first where all of them are too much."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

from streamjob_operator.measure.page import Page
from streamjob_operator.measure.room import ID_BYTES, bytes_of

LEAST_PAGES = 3
"""Of a query, however large: two make a window, and the one between them begins the next when the first is too old."""


def thinned(pages: Sequence[Page], most_bytes: float, window_s: float) -> tuple[Page, ...]:
    """Those of the pages, oldest first, that serve windows of so many seconds best, within most_bytes if they can.

    First what is older than the newest whole window goes; then pages closest to their neighbours, so that windows begin
    earlier than they could, and rows of the series stand for several batches. Never the first and last of a window.
    """
    weight, first = _Weight(pages), 0
    while len(pages) - first > LEAST_PAGES and weight.size_bytes > most_bytes:
        if pages[first + 1].at_s > pages[-1].at_s - window_s:
            break
        weight.less(pages[first])
        first += 1
    row = _Row([page.at_s for page in pages[first:]])
    while row.left > LEAST_PAGES and weight.size_bytes > most_bytes:
        weight.less(pages[first + row.pop()])
    return tuple(page for page, stays in zip(pages[first:], row.stays, strict=True) if stays)


class _Weight:
    """What the pages hold that have not gone."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.size_bytes = bytes_of(pages)
        self._sharing = Counter(id(page.group_ids) for page in pages)

    def less(self, page: Page) -> None:
        """A page goes, and the ids of its key groups with the last page that has them."""
        self.size_bytes -= page.own_bytes
        self._sharing[id(page.group_ids)] -= 1
        if not self._sharing[id(page.group_ids)]:
            self.size_bytes -= ID_BYTES * len(page.group_ids)


class _Row:
    """Moments in a row, of which those between the ends go, each time the one whose neighbours are closest together."""

    def __init__(self, at_s: Sequence[float]) -> None:
        self.left = len(at_s)
        self.stays = [True] * len(at_s)
        self._at_s = at_s
        self._before = [at - 1 for at in range(len(at_s))]
        self._after = [at + 1 for at in range(len(at_s))]
        self._closest = [(self._gap_s(at), at) for at in range(1, len(at_s) - 1)]
        heapq.heapify(self._closest)

    def pop(self) -> int:
        """Which one goes, the earlier of several."""
        while True:
            gap_s, at = heapq.heappop(self._closest)
            if self.stays[at] and gap_s == self._gap_s(at):  # else a neighbour has gone since
                break
        before, after = self._before[at], self._after[at]
        self._after[before], self._before[after] = after, before
        self.stays[at] = False
        self.left -= 1
        for one in (before, after):
            if 0 < one < len(self._at_s) - 1:
                heapq.heappush(self._closest, (self._gap_s(one), one))
        return at

    def _gap_s(self, at: int) -> float:
        return self._at_s[self._after[at]] - self._at_s[self._before[at]]
