"""One real Prometheus for this folder, with a target for each test; without the program the tests are left out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[2])]

from e2e.cluster import prometheus as program  # noqa: E402 - needs the path above
from e2e.cluster.left_out import NeedsProgram  # noqa: E402
from e2e.cluster.prometheus import Prometheus, static_target  # noqa: E402
from e2e.simulated.scripted_agent import Pages  # noqa: E402
from scraped_driver import Bench  # noqa: E402


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
def slots(request: pytest.FixtureRequest) -> int:
    """One for each test of this run that has a bench: none meets what another one has left in Prometheus."""
    return sum("bench" in getattr(item, "fixturenames", ()) for item in request.session.items)


@pytest.fixture(scope="session")
def pages(slots: int) -> Iterator[Pages]:
    with Pages(slots) as pages:
        yield pages


@pytest.fixture(scope="session")
def prometheus(
    prometheus_program: Path, pages: Pages, slots: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """Scrapes every slot each 100 ms."""
    targets = [
        {**static_target(pages.address, f"slot-{at}", namespace="test", pod=f"driver-{at}"), "metrics_path": f"/{at}"}
        for at in range(slots)
    ]
    with Prometheus(
        tmp_path_factory.mktemp("prometheus"), prometheus_program, targets, scrape_interval="100ms"
    ) as server:
        yield server


@pytest.fixture
def bench(prometheus: Prometheus, pages: Pages) -> Iterator[Bench]:
    bench = Bench(prometheus, pages)
    yield bench
    bench.show(lambda: None)
