"""A driver that somebody else started is looked after, and left running when its StreamJob goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from e2e.suite.evidence import Sayer
from e2e.suite.feed import Feed
from e2e.suite.job import Job, condition, settled
from e2e.suite.world import RESTRICTED, ROOT, World, config_map, filled

START_S, BALANCED_S, STOP_S = 240.0, 200.0, 120.0


def test_suspend_stops_the_driver_in_order(job: Job, say: Sayer) -> None:
    job.feed.rate = 0
    job.patch({"suspend": True})
    job.until(lambda one: one.get("phase") == "Suspended" and not job.pods("driver"), STOP_S, "suspended")
    assert not job.pods("executor")
    say(f"exit code {job.status()['driver'].get('exitCode')}")


@pytest.fixture(scope="module")
def adopted(installed: World) -> Iterator[Job]:
    """A plain driver pod, and a StreamJob that names it."""
    kubectl = installed.namespace("adopted", RESTRICTED)
    volume = installed.volume(kubectl, "adopted")
    kubectl.apply(config_map("app", job__py=ROOT / "samples" / "demo" / "job.py"))
    feed = Feed(volume)
    feed.start()
    kubectl(
        "apply",
        "-f",
        "-",
        text=filled("adopted.yaml", AGENT_IMAGE=installed.images.agent, SPARK_IMAGE=installed.images.spark),
    )
    yield Job(kubectl, volume, feed, "theirs")
    feed.end()


def test_a_running_driver_is_adopted_and_balanced(adopted: Job, say: Sayer) -> None:
    adopted.until(lambda one: condition(one, "Ready").startswith("True"), START_S, "Ready")
    status = adopted.until(settled(2), BALANCED_S, "balanced on two executors")
    assert adopted.failed_tasks() == ()
    say(f"load distance {status['load'].get('distance')}; {adopted.require_exact()}")


def test_the_driver_stays_when_its_streamjob_is_deleted(adopted: Job, say: Sayer) -> None:
    pod = adopted.kubectl.get("pod", "theirs")["metadata"]["uid"]
    adopted.kubectl("delete", "streamjob", "theirs", "--timeout=50s")
    say(adopted.require_exact())
    found = adopted.kubectl.get("pod", "theirs")
    assert found["metadata"]["uid"] == pod
    assert found["status"]["phase"] == "Running"
