"""A driver under Prometheus, as the operator sees it."""

from __future__ import annotations

import itertools
import time

from e2e.cluster.prometheus import Prometheus
from scripted_agent import Page, Pages, ScriptedAgent

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.metrics.http import Settings
from streamjob_operator.kube.metrics.prometheus import PrometheusMetrics
from streamjob_operator.values import Snapshot

_slots = itertools.count()


class Bench:
    """One driver under Prometheus: a test lets batches end, each is scraped, then observes."""

    window_s = 0.6

    def __init__(self, server: Prometheus, pages: Pages) -> None:
        self.server, self.pages, self.slot = server, pages, next(_slots)
        self.agent = ScriptedAgent(f"app-{self.slot}")
        self.settings = Settings(url=server.url)
        self.metrics = PrometheusMetrics(self._settings, self.status, "test")
        self.show_agent()

    def _settings(self) -> Settings:
        return self.settings

    def status(self) -> AgentStatus:
        return self.agent.status()

    def show_agent(self) -> None:
        """The page of whichever agent there is now."""

        def page() -> bytes:
            return self.agent.page()

        self.show(page)

    def show(self, page: Page) -> None:
        self.pages.show(self.slot, page)

    def scraped(self, count: int = 1) -> None:
        self.pages.wait_for_scrapes(self.slot, count)

    def batches(self, count: int, *busy_s: float) -> None:
        """Batches, each with a scrape of its own."""
        for _ in range(count):
            self.agent.batch(*busy_s)
            self.scraped()

    def run(self, *busy_s: float) -> None:
        """Batches for more than a window, after a first one that no window holds."""
        self.scraped()
        begun_s = time.monotonic()
        while time.monotonic() - begun_s < self.window_s + 0.4:
            self.batches(1, *busy_s)

    def observe(self) -> Snapshot:
        return self.metrics.observe(time.time(), self.window_s)
