"""MetricsSource that reads a Prometheus: six queries a cycle, however many key groups the job has.

Prometheus's clock says now, its target labels say which series belong to the driver, its samples' times say when it
scraped. A window runs from one scrape that saw a batch end to another; the pages of these two scrapes are read back
whole. Who holds what now comes from the agent's status, which is newer than any scrape.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from streamjob_agent.wire import AgentStatus, QueryStatus
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.kube.prometheus_http import Connection, Settings
from streamjob_operator.kube.prometheus_pages import COUNTERS, GAUGES, check_same_groups, check_size, read_page
from streamjob_operator.kube.prometheus_series import read_series
from streamjob_operator.kube.prometheus_target import Mark, find_scrapes, find_target
from streamjob_operator.measure.deltas import snapshot_between
from streamjob_operator.measure.page import Page
from streamjob_operator.measure.ring import Ring
from streamjob_operator.measure.traffic import TrafficReadings
from streamjob_operator.ports import Incomplete, Stale, Unavailable
from streamjob_operator.values import Snapshot

MOST_MARKS = 20_000
HORIZON_WINDOWS, HORIZON_MORE_S = 3.0, 600.0
SERIES_WINDOWS = 3.0
"""How far back scrapes are looked at: room for long batches before the window begins."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What is missing since when: for the condition MetricsAvailable. `reason` is a KubeReason."""

    reason: str
    message: str
    since_s: float


class PrometheusMetrics:
    """Measurements of the application that `status` speaks of, from the Prometheus that `settings` names.

    Its series are those of `namespace`, where Prometheus tells namespaces. Settings and status are asked at each
    observation and may raise Unavailable: log-ins are changed, drivers restart. `trouble` is what the newest
    observation ran into, None when all went well; `skew_s` how far Prometheus's clock is ahead.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        status: Callable[[], AgentStatus],
        namespace: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._status = status
        self._namespace = namespace
        self._clock = clock
        self._connection: Connection | None = None
        self._traffic = TrafficReadings()
        self._asleep: Mark | None = None
        self.trouble: Trouble | None = None
        self.skew_s = 0.0

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        """The newest whole batches of at least window_s; raises Unavailable, Stale or Incomplete."""
        try:
            snapshot = self._observe(window_s)
        except (Unavailable, Stale, Incomplete) as error:
            reason = error.code or KubeReason.PROMETHEUS_UNAVAILABLE
            since_s = self.trouble.since_s if self.trouble is not None else now_s
            self.trouble = Trouble(reason=reason, message=str(error), since_s=since_s)
            raise
        self.trouble = None
        return snapshot

    def close(self) -> None:
        """Let the connection go."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _observe(self, window_s: float) -> Snapshot:
        status = self._status()
        query, expected = _busiest(status)
        connection = self._connect()
        now_s = self._prometheus_now_s(connection)
        horizon_s = HORIZON_WINDOWS * window_s + HORIZON_MORE_S
        target = find_target(connection, status.application_id, horizon_s, self._namespace)
        scrapes = find_scrapes(connection, target, query.query_id, now_s, horizon_s)
        check_size(target, scrapes.samples)
        ring: Ring[Mark] = Ring(horizon_s, MOST_MARKS)
        for mark in awake(scrapes.marks, self._asleep):
            ring.add(mark)
        first, last = ring.window(now_s, window_s)
        start = read_page(connection, target, first, COUNTERS, expected, self.skew_s)
        end = read_page(connection, target, last, (*COUNTERS, *GAUGES), expected, self.skew_s)
        check_same_groups(start, end, expected, target)
        marks = [mark for mark in ring.until(last) if last.at_s - mark.at_s <= SERIES_WINDOWS * window_s]
        series = read_series(connection, target, marks, scrapes.since(marks[0].at_s), end)
        traffic = self._traffic.newest(start, end)
        snapshot = snapshot_between(start, end, _as_in(status, query, end), status, traffic, series)
        self._asleep = self._asleep if snapshot.rates.idle_since_s is None else last
        return snapshot

    def _connect(self) -> Connection:
        settings = self._settings()
        if self._connection is None or self._connection.settings != settings:
            self.close()
            self._connection = Connection(settings)
        return self._connection

    def _prometheus_now_s(self, connection: Connection) -> float:
        """Prometheus's clock; the difference to ours is what its times are corrected by."""
        before_s = self._clock()
        answer = connection.query("vector(time())")
        ours_s = (before_s + self._clock()) / 2
        try:
            theirs_s = float(answer[0]["value"][1])
        except (LookupError, TypeError, ValueError) as error:
            message = f"Prometheus at {connection.settings.url} does not tell its time."
            raise Unavailable(message, code=KubeReason.PROMETHEUS_UNAVAILABLE) from error
        self.skew_s = theirs_s - ours_s
        return theirs_s


def awake(marks: tuple[Mark, ...], asleep: Mark | None) -> tuple[Mark, ...]:
    """Without those before a scrape that saw the query idle, once a batch has ended after it: no window spans both."""
    newest = marks[-1]
    if asleep is None or asleep.identity != newest.identity or newest.batches <= asleep.batches:
        return marks
    return tuple(mark for mark in marks if mark.at_s >= asleep.at_s)


def _busiest(status: AgentStatus) -> tuple[QueryStatus, int]:
    """The query with the most key groups, the first by id at a tie, and how many of them have run."""
    seen = {
        one.query_id: sum(owner is not None for row in one.owners.values() for owner in row) for one in status.queries
    }
    if not any(seen.values()):
        raise Unavailable("No streaming query with key groups runs yet.", code=KubeReason.SERIES_MISSING)
    query = max(sorted(status.queries, key=lambda one: one.query_id), key=lambda one: seen[one.query_id])
    return query, seen[query.query_id]


def _as_in(status: AgentStatus, query: QueryStatus, end: Page) -> Page:
    """Executors and owners as the agent's status has them."""
    alive = [one for one in status.executors if one.state != "dead"]
    rows = query.owners

    def owner(operator: int, partition: int) -> str | None:
        row = rows.get(operator, ())
        return row[partition] if partition < len(row) else None

    return dataclasses.replace(
        end,
        owners=tuple(owner(group.operator, group.partition) for group in end.group_ids),
        executors={(one.executor_id, one.host): one.cores for one in alive},
        executor_states={one.executor_id: one.state for one in status.executors},
    )
