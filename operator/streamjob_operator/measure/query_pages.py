"""The pages of one query as they come, and what a window of them says."""

from __future__ import annotations

from streamjob_agent.wire import AgentStatus
from streamjob_operator.measure.batches import series_of, totals_of
from streamjob_operator.measure.deltas import snapshot_between
from streamjob_operator.measure.page import Page
from streamjob_operator.measure.ring import Ring
from streamjob_operator.measure.room import bytes_of
from streamjob_operator.measure.thinning import thinned
from streamjob_operator.measure.traffic import TrafficReadings
from streamjob_operator.ports import Unavailable
from streamjob_operator.values import Snapshot


class QueryPages:
    """Bounded by `fit`."""

    def __init__(self, horizon_s: float) -> None:
        self.ring: Ring[Page] = Ring(horizon_s)
        self._traffic = TrafficReadings()

    def add(self, page: Page) -> None:
        """Take in a page; ids of key groups that stay the same are kept once."""
        before = self.ring.newest
        if before is not None and before.group_ids == page.group_ids:
            page = page.sharing(before.group_ids)
        self.ring.add(page)

    def fit(self, most_bytes: float, window_s: float) -> None:
        """Keep those pages alone that serve windows of so many seconds best, within most_bytes if they can."""
        self.ring.only(thinned(self.ring.ends, most_bytes, window_s))

    @property
    def size_bytes(self) -> int:
        """What the pages hold, and the newest reading of traffic."""
        newest, ends = self.ring.newest, self.ring.ends
        pages = ends if newest is None or (ends and ends[-1] is newest) else (*ends, newest)
        return bytes_of(pages) + self._traffic.size_bytes

    def snapshot(self, status: AgentStatus, now_s: float, window_s: float) -> Snapshot:
        """The newest whole batches of at least window_s; raises Unavailable while there are none."""
        newest = self.ring.newest
        if newest is None:
            raise Unavailable("No page of the agent has been read.")
        start, end = self.ring.window(now_s, window_s)
        series = series_of([totals_of(page, end.group_ids) for page in self.ring.until(end)])
        found = snapshot_between(start, end, newest, status, self._traffic.newest(start, end), series)
        if found.rates.idle_since_s is not None:
            self.ring.rest()
        return found


def holders(status: AgentStatus, query_id: str) -> tuple[str, ...]:
    """Executors that hold key groups of a query, by their ids."""
    rows = (row for one in status.queries if one.query_id == query_id for row in one.owners.values())
    return tuple(sorted({owner for row in rows for owner in row if owner is not None}))
