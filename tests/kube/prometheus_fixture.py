"""A real Prometheus for tests on a real API server; without the program such a test is skipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.cluster import prometheus as program
from e2e.cluster.prometheus import Prometheus


@pytest.fixture
def prometheus(tmp_path: Path) -> Iterator[Prometheus]:
    """One that scrapes nothing yet: give it targets with `scrape`; the first scrapes come within five seconds."""
    found = program.get()
    if found is None:
        pytest.skip(program.HOW_TO_GET)
    with Prometheus(tmp_path / "prometheus", found) as server:
        yield server
