"""How many bytes of pages are kept: the room that a process's jobs share."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Sequence

from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.measure.page import Page

PAGE_SHARE, OVERFULL = 4, 2
"""One page may have a quarter of the room: three of a query and the newest stay. As all jobs' fewest pages stay, there
may be twice as much as the room, and no more."""
ID_BYTES = 128
"""Of a key group's id, two numbers and the places that refer to them."""


class Room:
    """Shared by jobs, each with an agent of its tenant's making that decides how large its pages are.

    Where the room is not full a job may take what is left; else those that have more than an equal share give way, each
    with its next page, and the others have their share. A job counts until nothing refers to it any more, as its pages
    do. The room is a quarter of the memory, since the process plans as well, and a page that comes in is more than
    those that are kept. `share_of` ends a sentence that tells its size.
    """

    def __init__(self, most_bytes: int = ReadingLimits().kept_bytes, share_of: str = "") -> None:
        self.most_bytes = most_bytes
        self.share_of = share_of
        self._taken: dict[int, int] = {}  # by identity: a sum over a thousand jobs at each page of each would be felt
        self._total = 0
        self._gone: deque[int] = deque()  # heard from the collector, which may run while the lock is held
        self._lock = threading.Lock()

    @property
    def most_page_bytes(self) -> int:
        """How much one page may take, whoever else has any."""
        return self.most_bytes // PAGE_SHARE

    def allowed_bytes(self, job: object) -> int:
        """How much a job may keep now."""
        with self._lock:
            others, jobs = self._beside(job)
        return max(self.most_bytes // jobs, self.most_bytes - others)

    def refuses(self, job: object, least_bytes: int) -> bool:
        """Whether even the fewest pages of a job are too much beside those of others."""
        most = OVERFULL * self.most_bytes
        with self._lock:
            others, jobs = self._beside(job)
        return others + least_bytes > most and least_bytes * jobs > most

    def take(self, job: object, size_bytes: int) -> None:
        """A job keeps so much from now on."""
        with self._lock:
            self._forget()
            if id(job) not in self._taken:
                weakref.finalize(job, self._gone.append, id(job)).atexit = False
            self._total += size_bytes - self._taken.get(id(job), 0)
            self._taken[id(job)] = size_bytes

    def _beside(self, job: object) -> tuple[int, int]:
        """What others have, and how many jobs there are with this one."""
        self._forget()
        return self._total - self._taken.get(id(job), 0), len(self._taken) + (id(job) not in self._taken)

    def _forget(self) -> None:
        while self._gone:
            self._total -= self._taken.pop(self._gone.popleft())


def bytes_of(pages: Sequence[Page]) -> int:
    """What pages hold; ids of key groups that several share count once."""
    shared = {id(page.group_ids): len(page.group_ids) for page in pages}
    return sum(page.own_bytes for page in pages) + ID_BYTES * sum(shared.values())
