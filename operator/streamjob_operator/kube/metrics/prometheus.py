"""MetricsSource that reads a Prometheus: four queries a cycle for each streaming query, however many key groups it has.

Prometheus's clock says now, its target labels, looked for once, say which series belong to the driver, its samples'
times say when it scraped. What was scraped does not change, so nothing is read twice. A window runs from one scrape
that saw a batch end to another; the pages of these two scrapes are read back whole. Who holds what now comes from the
agent's status, which is newer than any scrape. Each streaming query of the driver is measured over batches of its own,
then they are joined.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from streamjob_agent.wire import AgentStatus, QueryStatus
from streamjob_operator.kube.metrics.http import Connection, Settings
from streamjob_operator.kube.metrics.known_rows import KnownRows
from streamjob_operator.kube.metrics.pages import COUNTERS, GAUGES, check_same_groups, check_size, read_page
from streamjob_operator.kube.metrics.series import read_series
from streamjob_operator.kube.metrics.target import Mark, Target, find_scrapes, find_target
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.measure.deltas import snapshot_between
from streamjob_operator.measure.joining import join
from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.measure.page import Page
from streamjob_operator.measure.query_pages import holders
from streamjob_operator.measure.ring import Ring
from streamjob_operator.measure.room import Room, bytes_of
from streamjob_operator.measure.traffic import TrafficReadings
from streamjob_operator.ports import Incomplete, Stale, Unavailable
from streamjob_operator.queries import too_many
from streamjob_operator.values import Snapshot

MOST_MARKS = 20_000
HORIZON_WINDOWS, HORIZON_MORE_S = 3.0, 600.0
NOT_YET = (None, KubeReason.SERIES_MISSING)
"""Codes where a query beside the leading one is not measured: it has just begun, or its series are dropped."""
_ANOTHER_TARGET = (KubeReason.TARGET_MISSING, KubeReason.SERIES_MISSING)
"""Codes where the target of before has not told: Prometheus may know the agent by other labels since."""
SERIES_WINDOWS = 3.0
"""How far back scrapes are looked at: room for long batches before the window begins."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What is missing since when: for the condition MetricsAvailable. `reason` is a KubeReason."""

    reason: str
    message: str
    since_s: float


@dataclasses.dataclass(slots=True)
class Known:
    """What is kept of a streaming query between two observations.

    `asleep` is the newest scrape that saw it idle, `end` the one that the newest window ended with, and its page: where
    windows follow one another the next one begins there. `rows` are those of the newest series.
    """

    traffic: TrafficReadings = dataclasses.field(default_factory=TrafficReadings)
    asleep: Mark | None = None
    end: tuple[Mark, Page] | None = None
    rows: KnownRows | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One observation: whom to ask, of which driver, by Prometheus's clock."""

    connection: Connection
    target: Target
    status: AgentStatus
    now_s: float
    window_s: float
    horizon_s: float


class PrometheusMetrics:
    """Measurements of the application that `status` speaks of, from the Prometheus that `settings` names.

    Its series are those of `namespace`, where Prometheus tells namespaces. What is kept between observations counts in
    `room`, with what other jobs keep; `limits`, `turn` and `apart` are as `Connection` has them. Settings and status
    are asked at each observation and may raise Unavailable: log-ins are changed, drivers restart. `trouble` is what the
    newest observation ran into, None when all went well; `skew_s` how far Prometheus's clock is ahead.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        status: Callable[[], AgentStatus],
        namespace: str,
        clock: Callable[[], float] = time.time,
        *,
        room: Room | None = None,
        limits: ReadingLimits | None = None,
        turn: Callable[[], AbstractContextManager[None]] = nullcontext,
        apart: AbstractContextManager[object] | None = None,
    ) -> None:
        self._settings = settings
        self._limits, self._turn, self._apart = limits, turn, apart
        self._status = status
        self._namespace = namespace
        self._clock = clock
        self._connection: Connection | None = None
        self._room = Room() if room is None else room
        self._known: dict[str, Known] = {}
        self._target: Target | None = None
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
        finally:
            if self._connection is not None:
                # Kept until the next cycle, those of 512 jobs would be all that a Prometheus takes from anybody.
                self._connection.close()
            self._fit()
        self.trouble = None
        return snapshot

    def _fit(self) -> None:
        """Rows and pages that there is no room for are read again when they are needed."""
        queries = self._known.values()
        rows_bytes = sum(one.rows.size_bytes for one in queries if one.rows is not None)
        size_bytes = bytes_of([one.end[1] for one in queries if one.end is not None])
        size_bytes += rows_bytes + sum(one.traffic.size_bytes for one in queries)
        allowed_bytes = self._room.allowed_bytes(self)
        if size_bytes > allowed_bytes:
            size_bytes -= rows_bytes
            for one in queries:
                one.rows = None
        if size_bytes > allowed_bytes:
            size_bytes = sum(one.traffic.size_bytes for one in queries)
            for one in queries:
                one.end = None
        self._room.take(self, size_bytes)

    def _observe(self, window_s: float) -> Snapshot:
        status = self._status()
        queries = busy_queries(status)
        self._known = {one.query_id: self._known.get(one.query_id) or Known() for one in queries}
        connection = self._connect()
        now_s, horizon_s = self._prometheus_now_s(connection), HORIZON_WINDOWS * window_s + HORIZON_MORE_S
        target = self._target if self._told_of(status.application_id) else None
        newest = target or find_target(connection, status.application_id, horizon_s, self._namespace)
        asked = Asked(
            connection=connection, target=newest, status=status, now_s=now_s, window_s=window_s, horizon_s=horizon_s
        )
        try:
            found = self._joined(asked, queries)
        except (Unavailable, Stale, Incomplete) as error:
            if target is None or error.code not in _ANOTHER_TARGET:
                raise
            newest = find_target(connection, status.application_id, horizon_s, self._namespace)
            if newest == target:
                raise
            found = self._joined(dataclasses.replace(asked, target=newest), queries)
        self._target = newest
        return found

    def _told_of(self, application_id: str) -> bool:
        """Whether the target of the newest observation was that of this application."""
        return self._target is not None and self._target.application_id == application_id

    def _joined(self, asked: Asked, queries: Sequence[QueryStatus]) -> Snapshot:
        """What all queries did; the first one leads."""
        (lead, *others), status = queries, asked.status
        measured, unmeasured = [self._measured(asked, lead)], {}
        for query in others:
            try:
                measured.append(self._measured(asked, query))
            except (Unavailable, Incomplete) as error:
                if error.code not in NOT_YET:
                    raise
                unmeasured[query.name or query.query_id] = holders(status, query.query_id)
        if not others:
            return measured[0]
        return join(measured, {one.query_id: one.name or one.query_id for one in status.queries}, unmeasured)

    def _measured(self, asked: Asked, query: QueryStatus) -> Snapshot:
        """What a query did in the newest whole batches of its own."""
        connection, target, known = asked.connection, asked.target, self._known[query.query_id]
        expected = groups_of(query)
        scrapes = find_scrapes(connection, target, query.query_id, asked.now_s, asked.horizon_s)
        check_size(target, scrapes.samples)
        ring: Ring[Mark] = Ring(asked.horizon_s, MOST_MARKS)
        for mark in awake(scrapes.marks, known.asleep):
            ring.add(mark)
        first, last = ring.window(asked.now_s, asked.window_s)
        start = self._start(asked, known, first, expected)
        end = read_page(connection, target, last, (*COUNTERS, *GAUGES), expected, self.skew_s)
        if end.group_ids == start.group_ids:
            end = end.sharing(start.group_ids)  # what is the same is held, and compared from here on, as one
        check_same_groups(start, end, expected, target)
        marks = [mark for mark in ring.until(last) if last.at_s - mark.at_s <= SERIES_WINDOWS * asked.window_s]
        read = read_series(connection, target, marks, scrapes.since(marks[0].at_s), end, known.rows)
        traffic = known.traffic.newest(start, end)
        snapshot = snapshot_between(start, end, _as_in(asked.status, query, end), asked.status, traffic, read.series)
        known.asleep = known.asleep if snapshot.rates.idle_since_s is None else last
        known.end, known.rows = (last, end), read.known
        return snapshot

    def _start(self, asked: Asked, known: Known, first: Mark, expected: int) -> Page:
        """The page that the window begins with: what was scraped does not change, so none is read twice."""
        if known.end is not None and known.end[0] == first:
            return dataclasses.replace(known.end[1], at_s=first.at_s - self.skew_s)
        return read_page(asked.connection, asked.target, first, COUNTERS, expected, self.skew_s)

    def _connect(self) -> Connection:
        settings = self._settings()
        if self._connection is None or self._connection.settings != settings:
            self._connection = Connection(settings, limits=self._limits, turn=self._turn, apart=self._apart)
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


def busy_queries(status: AgentStatus) -> list[QueryStatus]:
    """The queries whose key groups have run, that with most of them first, by id at a tie; raises Unavailable."""
    found = sorted((one for one in status.queries if groups_of(one)), key=lambda one: (-groups_of(one), one.query_id))
    if not found:
        raise Unavailable("No streaming query with key groups runs yet.", code=KubeReason.SERIES_MISSING)
    trouble = too_many(len(found))  # each is a few questions
    if trouble is not None:
        raise Unavailable(trouble, code=KubeReason.SERIES_MISSING)
    return found


def groups_of(query: QueryStatus) -> int:
    """How many key groups of a query have run."""
    return sum(owner is not None for row in query.owners.values() for owner in row)


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
