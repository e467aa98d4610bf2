"""The pages of one query as they come, and what a window of them says."""

from __future__ import annotations

from streamjob_agent.wire import AgentStatus
from streamjob_operator.measure.batches import series_of, totals_of
from streamjob_operator.measure.deltas import snapshot_between
from streamjob_operator.measure.page import Page
from streamjob_operator.measure.ring import Ring
from streamjob_operator.measure.traffic import TrafficReadings
from streamjob_operator.ports import Unavailable
from streamjob_operator.values import Snapshot


class QueryPages:
    """Bounded. `ring` takes the pages in."""

    def __init__(self, horizon_s: float) -> None:
        self.ring: Ring[Page] = Ring(horizon_s)
        self._traffic = TrafficReadings()

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
