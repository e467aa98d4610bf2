"""One real Prometheus for this folder, with a target for each test; without the program the tests are left out."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[2])]

from e2e.cluster import prometheus as program  # noqa: E402 - needs the path above
from e2e.cluster.left_out import NeedsProgram  # noqa: E402
from e2e.cluster.prometheus import Prometheus, static_target  # noqa: E402
from scripted_agent import Page, Pages, ScriptedAgent  # noqa: E402

from streamjob_agent.wire import AgentStatus  # noqa: E402
from streamjob_operator.kube.prometheus import PrometheusMetrics  # noqa: E402
from streamjob_operator.kube.prometheus_http import Settings  # noqa: E402
from streamjob_operator.values import Snapshot  # noqa: E402

SLOTS = 30


def pytest_configure(config: pytest.Config) -> None:
    """See NeedsProgram."""
    config.pluginmanager.register(NeedsProgram(Path(__file__).parent, "prometheus", program.get, program.HOW_TO_GET))


@pytest.fixture(scope="session")
def prometheus_program() -> Path:
    """Path of the program."""
    found = program.get()
    assert found is not None, program.HOW_TO_GET
    return found


@pytest.fixture(scope="session")
def pages() -> Iterator[Pages]:
    with Pages(SLOTS) as pages:
        yield pages


@pytest.fixture(scope="session")
def prometheus(
    prometheus_program: Path, pages: Pages, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """Scrapes every slot each 100 ms."""
    targets = [
        {**static_target(pages.address, f"slot-{at}", namespace="test", pod=f"driver-{at}"), "metrics_path": f"/{at}"}
        for at in range(SLOTS)
    ]
    with Prometheus(
        tmp_path_factory.mktemp("prometheus"), prometheus_program, targets, scrape_interval="100ms"
    ) as server:
        yield server


_slots = itertools.count()


class Bench:
    """One driver under Prometheus: a test lets batches end, each is scraped, then observes."""

    window_s = 0.6

    def __init__(self, server: Prometheus, pages: Pages) -> None:
        self.server, self.pages, self.slot = server, pages, next(_slots)
        self.agent = ScriptedAgent(f"app-{self.slot}")
        self.settings = Settings(url=server.url)
        self.metrics = PrometheusMetrics(self._settings, self.status)
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


@pytest.fixture
def bench(prometheus: Prometheus, pages: Pages) -> Iterator[Bench]:
    bench = Bench(prometheus, pages)
    yield bench
    bench.metrics.close()
    bench.show(lambda: None)
