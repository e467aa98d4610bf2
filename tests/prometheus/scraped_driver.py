"""A driver under Prometheus, as the operator sees it."""

from __future__ import annotations

import itertools
import time

from e2e.cluster.prometheus import Prometheus
from e2e.simulated.scripted_agent import Page, Pages, ScriptedAgent

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.metrics.http import Settings
from streamjob_operator.kube.metrics.prometheus import PrometheusMetrics
from streamjob_operator.ports import Stale
from streamjob_operator.values import Snapshot

STORED_S = 60.0
_slots = itertools.count()


class Bench:
    """One driver under Prometheus: a test lets batches end, each is scraped, then observes."""

    window_s = 0.6

    def __init__(self, server: Prometheus, pages: Pages) -> None:
        self.server, self.pages, self.slot = server, pages, next(_slots)
        self._jobs, self._targets = f"slot-{self.slot}", 1
        self._numbers = itertools.count(1)
        self._shown = 0
        self.agent = ScriptedAgent(f"app-{self.slot}")
        self.settings = Settings(url=server.url)
        self.metrics = PrometheusMetrics(self._settings, self.status, "test")
        self.show_agent()

    def _settings(self) -> Settings:
        return self.settings

    def status(self) -> AgentStatus:
        return self.agent.status()

    def read_from(self, server: Prometheus, jobs: str, targets: int) -> None:
        """Scrapes and windows are those of another server from now on; `jobs`: a pattern of that many targets."""
        self.server, self._jobs, self._targets = server, jobs, targets
        self.settings = Settings(url=server.url)

    def show_agent(self) -> None:
        """The page of whichever agent there is now."""

        def page() -> bytes:
            return self.agent.page()

        self.show(page)
        self._shows_agent = True

    def show(self, page: Page) -> None:
        """That page, with a number under it by which it is known again in Prometheus."""
        self._shows_agent = False

        def numbered() -> bytes | None:
            self._shown = number = next(self._numbers)
            body = page()
            return None if body is None else body + f"scripted_page {number}\n".encode()

        self.pages.show(self.slot, numbered)

    def scraped(self) -> float:
        """Until Prometheus has stored a page of each target that it asked for after now: on a busy machine a scrape
        may run out of time after it was answered. Returns the oldest one's stamp, in s.
        """
        newer, until_s = self._shown + 1, time.monotonic() + STORED_S
        page = f'scripted_page{{job=~"{self._jobs}"}}'
        while len(stored := self.server.query(f"timestamp({page}) and {page} >= {newer}")) < self._targets:
            assert time.monotonic() < until_s, "nobody scrapes"
            time.sleep(0.02)
        return min(float(one["value"][1]) for one in stored)

    def failed(self, count: int = 1) -> None:
        """Until that many scrapes of a page that is none were answered, and one more has begun."""
        self.pages.wait_for_scrapes(self.slot, count + 1)

    def batches(self, count: int, *busy_s: float) -> float:
        """Batches, each with a scrape of its own; returns the stamp of the last, in s."""
        stamp_s = 0.0
        for _ in range(count):
            self.agent.batch(*busy_s)
            stamp_s = self.scraped()
        return stamp_s

    def run(self, *busy_s: float) -> None:
        """Batches for more than a window by the stamps of their scrapes, after one that no window holds and one at
        whose end windows may begin: on a busy machine there may be a second between two scrapes.
        """
        begun_s = self.batches(2, *busy_s)
        while self.batches(1, *busy_s) - begun_s < self.window_s + 0.4:
            pass

    def observe(self) -> Snapshot:
        """Once more after the next scrape where scrapes of the agent's page were missed: the machine stood still."""
        until_s = time.monotonic() + STORED_S
        while True:
            try:
                return self.metrics.observe(time.time(), self.window_s)
            except Stale:
                if not self._shows_agent or time.monotonic() > until_s:
                    raise
            self.scraped()
