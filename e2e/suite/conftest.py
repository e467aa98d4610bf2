"""The cases share one cluster, one operator and, as far as they can, one job: Spark takes its time to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from e2e.suite import evidence
from e2e.suite.feed import Feed
from e2e.suite.job import NAMESPACE, Job
from e2e.suite.world import CHART, RELEASE, RESTRICTED, ROOT, SYSTEM, World, config_map, filled


@pytest.fixture(scope="session")
def world() -> World:
    """The cluster."""
    return World.from_environment()


@pytest.fixture(scope="session")
def installed(world: World) -> World:
    """The cluster with our chart."""
    world.namespace(SYSTEM, RESTRICTED)
    world.helm("upgrade", "--install", RELEASE, str(CHART), *world.chart_values(), "--wait", "--timeout=120s")
    return world


@pytest.fixture(scope="session")
def job(installed: World) -> Iterator[Job]:
    """The suite's job, submitted, with scans coming in."""
    installed.prometheus()
    kubectl = installed.namespace(NAMESPACE, RESTRICTED)
    volume = installed.volume(kubectl, NAMESPACE)
    kubectl.apply(config_map("app", job__py=ROOT / "samples" / "demo" / "job.py"))
    feed = Feed(volume)
    feed.start()
    kubectl("apply", "-f", "-", text=filled("parcels.yaml", AGENT_IMAGE=installed.images.agent))
    yield Job(kubectl, volume, feed)
    feed.end()


@pytest.fixture
def say(record_property: evidence.Recorder) -> evidence.Sayer:
    """Tells figures of a case for the table."""
    return evidence.sayer(record_property)
