"""How many bytes of pages are kept: the room that a process's jobs share, and which pages of a query go first."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from streamjob_operator.measure.page import Page

MOST_BYTES = 512 * 1024 * 1024
"""Of the pages of all jobs of a process: a quarter of what the chart gives the operator (2 GiB), which plans as well,
and for which one page that comes in is more than those that are kept."""
LEAST_PAGES = 3
"""Of a query, however large: two make a window, and the one between them begins the next when the first is too old."""
ID_BYTES = 128
"""Of a key group's id, two numbers and the places that refer to them."""


class Room:
    """Shared by jobs, each with an agent of its tenant's making that decides how large its pages are.

    Where the room is not full a job may take what is left; else those that have more than an equal share give way, each
    with its next page, and the others have their share. A job counts until nothing refers to it any more, as its pages
    do.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._taken: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def allowed_bytes(self, job: object) -> int:
        """How much a job may keep now."""
        with self._lock:
            others = sum(size for one, size in self._taken.items() if one is not job)
            jobs = len(self._taken) + (job not in self._taken)
        return max(self._most_bytes // jobs, self._most_bytes - others)

    def take(self, job: object, size_bytes: int) -> None:
        """A job keeps so much from now on."""
        with self._lock:
            self._taken[job] = size_bytes


def bytes_of(pages: Sequence[Page]) -> int:
    """What pages hold; ids of key groups that several share count once."""
    shared = {id(page.group_ids): len(page.group_ids) for page in pages}
    return sum(page.own_bytes for page in pages) + ID_BYTES * sum(shared.values())


def thinned(pages: Sequence[Page], most_bytes: float, window_s: float) -> tuple[Page, ...]:
    """Those of the pages, oldest first, that serve windows of so many seconds best, within most_bytes if they can.

    First what is older than the newest whole window goes; then pages closest to their neighbours, so that windows begin
    earlier than they could, and rows of the series stand for several batches. Never the first and last of a window.
    """
    kept = list(pages)
    while len(kept) > LEAST_PAGES and bytes_of(kept) > most_bytes:
        begins_later = kept[1].at_s <= kept[-1].at_s - window_s
        kept.pop(0 if begins_later else min(range(1, len(kept) - 1), key=lambda at: _gap_s(kept, at)))
    return tuple(kept)


def _gap_s(pages: Sequence[Page], at: int) -> float:
    """Between the neighbours of a page."""
    return pages[at + 1].at_s - pages[at - 1].at_s
