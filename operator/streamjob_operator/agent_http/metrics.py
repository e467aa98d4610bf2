"""MetricsSource that reads the agent's endpoint in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from streamjob_agent.wire import AgentStatus
from streamjob_operator.agent_http.client import AgentClient
from streamjob_operator.measure.batches import series_of, totals_of
from streamjob_operator.measure.joining import join
from streamjob_operator.measure.page import Page, parse_pages
from streamjob_operator.measure.query_pages import QueryPages, holders
from streamjob_operator.measure.room import Room
from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.values import Snapshot
from streamjob_operator.waking.cadence import Seen
from streamjob_operator.waking.rows import Rows

SCRAPE_S = 1.0
UNATTACHED = ("NotAttached", "SparkConnectClient", "Attaching", "AttachFailed")
"""Reasons of an agent's status that explain why its page has no query."""
SCRAPE_COST_RATIO = 20.0
"""The pause between two scrapes is at least this times what a scrape takes, so that large jobs are read less often."""

FEW_PAGES = (
    "The agent's pages are too large to keep all of them: windows may be longer than balancing.statisticsPeriod, and "
    "what was before them is known in part."
)


class AgentMetrics:
    """Scrapes about every second; use as a context manager, or call :meth:`scrape` by hand.

    `together`: all queries of the driver are one snapshot; else it is of the one with most key groups. `room` bounds
    what is kept of the pages, together with those of other agents.
    """

    def __init__(
        self,
        client: AgentClient,
        window_s: float,
        clock: Callable[[], float] = time.time,
        *,
        together: bool = False,
        room: Room | None = None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._together = together
        self._room = Room() if room is None else room
        self._thinned_at_s: float | None = None
        self._window_s = window_s
        self._queries: dict[str, QueryPages] = {}
        self._lock = threading.Lock()
        self._pause_s = SCRAPE_S
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="agent-metrics", daemon=True)
        self.failed_scrapes = 0
        self._seen = Seen()

    def __enter__(self) -> AgentMetrics:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()
        self._thread.join(timeout=10.0)

    def let_go(self) -> None:
        """No page is read any more. One that is being read, of an agent that may hang, is not waited for."""
        self._stop.set()

    def scrape(self) -> None:
        """Read one page between two observations; a failure is counted: the next observation runs into it anyway."""
        try:
            with self._lock:
                page = self._read()
            self._look(page)
        except Unavailable:
            self.failed_scrapes += 1

    @property
    def seen(self) -> Seen:
        """What was seen last, without asking the agent."""
        return self._seen

    @property
    def note(self) -> str | None:
        """What a person should know of measurements that are there: pages had to go lately."""
        lately_s = self._clock() - _horizon_s(self._window_s)
        return FEW_PAGES if self._thinned_at_s is not None and self._thinned_at_s >= lately_s else None

    def _look(self, page: Page) -> None:
        """The status with each page; the same rows until another batch has ended."""
        status, rows = self._client.status(), self._seen.rows
        with self._lock:
            pages = self._queries.get(page.query_id)  # it may have ended since
            ends = () if pages is None else pages.ring.ends
        if not ends:
            rows = None
        elif rows is None or rows.series.ended_at_s[-1] != ends[-1].at_s:
            series = series_of([totals_of(one, page.group_ids) for one in ends])
            slots = {one.executor_id: one.cores for one in status.executors}
            rows = None if series is None else Rows(series=series, owners=page.owners, slots=slots)
        self._seen = Seen(status=status, rows=rows)

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        """The newest whole batches of at least window_s; raises Unavailable or Stale.

        A page is read after the status: a move that the status calls done is then seen in the page's owners, or it
        would be planned once more.
        """
        status = self._client.status()
        try:
            with self._lock:
                self._keep(window_s)  # the period may have been edited
                newest = self._read()
                return self._snapshot(newest, status, now_s, window_s)
        except Unavailable as error:
            if status.reason in UNATTACHED:
                raise Unavailable(f"The agent measures nothing: {status.message}.") from error
            raise

    def _snapshot(self, newest: Page, status: AgentStatus, now_s: float, window_s: float) -> Snapshot:
        if status.application_id != newest.application_id:
            raise Stale(f"The driver is {newest.application_id} now, its status was that of {status.application_id}.")
        if len(self._queries) == 1 or not self._together:
            return self._queries[newest.query_id].snapshot(status, now_s, window_s)
        measured: list[Snapshot] = []
        unmeasured: dict[str, Unavailable] = {}
        for query_id, pages in self._queries.items():
            try:
                measured.append(pages.snapshot(status, now_s, window_s))
            except Unavailable as error:
                unmeasured[query_id] = error
        if not measured:
            raise unmeasured[newest.query_id]
        names = {one.query_id: one.name or one.query_id for one in status.queries}
        return join(measured, names, {names.get(one, one): holders(status, one) for one in unmeasured})

    def _read(self) -> Page:
        """Read one page into the rings, that of the query with most key groups; the lock keeps them in the order of
        their time."""
        started_s = self._clock()
        pages = parse_pages(self._client.page(), self._clock())
        known = self._queries
        self._queries = {
            page.query_id: known.get(page.query_id) or QueryPages(_horizon_s(self._window_s))
            for page in (pages if self._together else pages[:1])
        }
        for page, query in zip(pages, self._queries.values(), strict=False):
            query.add(page)
        self._fit()
        self._pause_s = max(SCRAPE_S, SCRAPE_COST_RATIO * (self._clock() - started_s))
        return pages[0]

    def _fit(self) -> None:
        """Into the room that there is, each query by what its pages hold."""
        queries, allowed_bytes = self._queries.values(), self._room.allowed_bytes(self)
        sizes_bytes = [query.size_bytes for query in queries]
        held_bytes = sum(sizes_bytes)
        if held_bytes > allowed_bytes:
            self._thinned_at_s = self._clock()
            for query, size_bytes in zip(queries, sizes_bytes, strict=True):
                query.fit(allowed_bytes * size_bytes / held_bytes, self._window_s)
            held_bytes = sum(query.size_bytes for query in queries)
        self._room.take(self, held_bytes)

    def _keep(self, window_s: float) -> None:
        self._window_s = window_s
        for pages in self._queries.values():
            pages.ring.keep(_horizon_s(window_s))

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                self.scrape()
            except Exception:  # noqa: BLE001 - whatever it is, later pages are read; a cycle runs into it, and tells
                self.failed_scrapes += 1
            self._stop.wait(self._pause_s)


def _horizon_s(window_s: float) -> float:
    """For how long pages are kept."""
    return 3 * window_s + 60.0
