"""MetricsSource that reads the agent's endpoint in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.standalone.client import AgentClient
from streamjob_operator.standalone.deltas import snapshot_between
from streamjob_operator.standalone.page import parse_page
from streamjob_operator.standalone.ring import Ring
from streamjob_operator.values import Snapshot

SCRAPE_S = 1.0
SCRAPE_COST_RATIO = 20.0
"""The pause between two scrapes is at least this times what a scrape takes, so that large jobs are read less often."""
STALE_SCRAPES = 5


class AgentMetrics:
    """Scrapes about every second; use as a context manager, or call :meth:`scrape` by hand."""

    def __init__(self, client: AgentClient, window_s: float, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._clock = clock
        self._ring = Ring(horizon_s=3 * window_s + 60.0)
        self._lock = threading.Lock()
        self._trouble = "The agent has not been read yet."
        self._pause_s = SCRAPE_S
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="agent-metrics", daemon=True)

    def __enter__(self) -> AgentMetrics:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=10.0)

    def scrape(self) -> None:
        """Read one page; a failure is kept for the next `observe`."""
        started_s = self._clock()
        try:
            page = parse_page(self._client.page(), self._clock())
        except Unavailable as error:
            with self._lock:
                self._trouble = str(error)
            return
        with self._lock:
            self._ring.add(page)
            self._pause_s = max(SCRAPE_S, SCRAPE_COST_RATIO * (self._clock() - started_s))

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        """The newest whole batches of at least window_s; raises Unavailable or Stale."""
        with self._lock:
            newest, trouble, patience_s = self._ring.newest, self._trouble, STALE_SCRAPES * self._pause_s
            if newest is None:
                raise Unavailable(trouble)
            age_s = now_s - newest.at_s
            if age_s > patience_s + window_s:
                raise Stale(f"The newest page of the agent is {format_duration(round(age_s, 1))} old. {trouble}")
            start, end = self._ring.window(now_s, window_s)
        status = self._client.status()
        if status.application_id != end.application_id:
            raise Stale(f"The driver is {status.application_id} now, what was measured is {end.application_id}.")
        return snapshot_between(start, end, newest, status)

    def _watch(self) -> None:
        while not self._stop.is_set():
            self.scrape()
            self._stop.wait(self._pause_s)
