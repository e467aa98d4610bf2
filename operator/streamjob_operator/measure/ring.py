"""The last pages at which a batch had just ended, and the window between two of them."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

from streamjob_operator.ports import Unavailable

MAX_PAGES = 2000


class Moment(Protocol):
    """What the ring needs to know of a page: when it was seen, of which run, and how many batches had ended."""

    @property
    def at_s(self) -> float: ...  # noqa: D102 - said above

    @property
    def identity(self) -> tuple[str, str, str]: ...  # noqa: D102

    @property
    def batches(self) -> float: ...  # noqa: D102


M = TypeVar("M", bound=Moment)


class Ring(Generic[M]):
    """Bounded: pages at batch ends, and the newest page.

    Windows begin and end at batch ends, so that a window holds whole batches; the first batch of a cold driver, or of a
    query that was idle, is in no window, because none begins before its end.
    """

    def __init__(self, horizon_s: float, most: int = MAX_PAGES) -> None:
        self._horizon_s = horizon_s
        self._ends: deque[M] = deque(maxlen=most)
        self._newest: M | None = None
        self._idle = False

    def keep(self, horizon_s: float) -> None:
        """Keep pages of so many seconds from now on."""
        self._horizon_s = horizon_s

    def add(self, page: M) -> None:
        """Take in a page; one of another driver or run of the query starts anew."""
        before = self._newest
        if before is None or before.identity != page.identity:
            self._ends.clear()
        elif page.batches > before.batches:
            if self._idle:
                self._ends.clear()
            self._ends.append(page)
            self._idle = False
        while len(self._ends) > 2 and self._ends[1].at_s < page.at_s - self._horizon_s:
            self._ends.popleft()
        self._newest = page

    def rest(self) -> None:
        """The query was seen to be idle: no window reaches from before that to batches after it."""
        self._idle = True

    def only(self, ends: Iterable[M]) -> None:
        """Of the pages at batch ends keep these alone, oldest first."""
        self._ends = deque(ends, maxlen=self._ends.maxlen)

    @property
    def newest(self) -> M | None:
        """The newest page."""
        return self._newest

    @property
    def ends(self) -> tuple[M, ...]:
        """The pages at batch ends, oldest first."""
        return tuple(self._ends)

    def window(self, now_s: float, window_s: float) -> tuple[M, M]:
        """First and last page of the newest window of at least window_s; raises Unavailable while there is none."""
        if self._newest is None or len(self._ends) < 1:
            raise Unavailable("No batch has ended since the agent is being watched.")
        end = self._ends[-1]
        if now_s - end.at_s > self._patience_s(window_s):
            end = self._newest  # idle: a window that ended long ago would show load that is gone
        starts = [page for page in self._ends if page.at_s <= end.at_s - window_s] or [self._ends[0]]
        if starts[-1] is end or starts[-1].at_s >= end.at_s:
            raise Unavailable("Only one batch has ended since the agent is being watched; two make a window.")
        return starts[-1], end

    def until(self, end: M) -> tuple[M, ...]:
        """The pages at batch ends before a page, and this page, oldest first."""
        return (*(page for page in self._ends if page.at_s < end.at_s), end)

    def _patience_s(self, window_s: float) -> float:
        """Three of the longest recent gaps between batches, at least one window."""
        recent = list(self._ends)[-5:]
        gaps = [after.at_s - before.at_s for before, after in itertools.pairwise(recent)]
        return max([window_s, *(3 * gap for gap in gaps)])
