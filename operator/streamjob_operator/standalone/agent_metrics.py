"""MetricsSource that reads the agent's endpoint in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from streamjob_operator.measure.batches import series_of, totals_of
from streamjob_operator.measure.deltas import snapshot_between
from streamjob_operator.measure.page import Page, parse_page
from streamjob_operator.measure.ring import Ring
from streamjob_operator.measure.traffic import TrafficReadings
from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.standalone.client import AgentClient
from streamjob_operator.values import Snapshot
from streamjob_operator.waking.cadence import Seen
from streamjob_operator.waking.rows import Rows

SCRAPE_S = 1.0
UNATTACHED = ("NotAttached", "Attaching", "AttachFailed")
"""Reasons of an agent's status that explain why its page has no query."""
SCRAPE_COST_RATIO = 20.0
"""The pause between two scrapes is at least this times what a scrape takes, so that large jobs are read less often."""


class AgentMetrics:
    """Scrapes about every second; use as a context manager, or call :meth:`scrape` by hand."""

    def __init__(self, client: AgentClient, window_s: float, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._clock = clock
        self._ring: Ring[Page] = Ring(horizon_s=3 * window_s + 60.0)
        self._traffic = TrafficReadings()
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
        self._stop.set()
        self._thread.join(timeout=10.0)

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

    def _look(self, page: Page) -> None:
        """The status with each page; the same rows until another batch has ended."""
        status, rows = self._client.status(), self._seen.rows
        with self._lock:
            ends = self._ring.ends
        if not ends:
            rows = None
        elif rows is None or rows.series.ended_at_s[-1] != ends[-1].at_s:
            series = series_of([totals_of(one, page.group_ids) for one in ends])
            rows = None if series is None else Rows(series=series, owners=page.owners)
        self._seen = Seen(status=status, rows=rows)

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        """The newest whole batches of at least window_s; raises Unavailable or Stale.

        A page is read after the status: a move that the status calls done is then seen in the page's owners, or it
        would be planned once more.
        """
        status = self._client.status()
        try:
            with self._lock:
                newest = self._read()
                start, end = self._ring.window(now_s, window_s)
                pages = self._ring.until(end)
        except Unavailable as error:
            if status.reason in UNATTACHED:
                raise Unavailable(f"The agent measures nothing: {status.message}.") from error
            raise
        if status.application_id != newest.application_id:
            raise Stale(f"The driver is {newest.application_id} now, its status was that of {status.application_id}.")
        series = series_of([totals_of(page, end.group_ids) for page in pages])
        snapshot = snapshot_between(start, end, newest, status, self._traffic.newest(start, end), series)
        if snapshot.rates.idle_since_s is not None:
            with self._lock:
                self._ring.rest()
        return snapshot

    def _read(self) -> Page:
        """Read one page into the ring; the lock keeps pages in the order of their time."""
        started_s = self._clock()
        page = parse_page(self._client.page(), self._clock())
        self._ring.add(page)
        self._pause_s = max(SCRAPE_S, SCRAPE_COST_RATIO * (self._clock() - started_s))
        return page

    def _watch(self) -> None:
        while not self._stop.is_set():
            self.scrape()
            self._stop.wait(self._pause_s)
