"""A driver that somebody else started is looked after, by its labels and by its SparkApplication, and left running."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.cluster.kubectl import ESTABLISHED
from e2e.simulated.spark_applications import APACHE, KUBEFLOW, SparkApplications
from e2e.suite.evidence import Sayer
from e2e.suite.feed import Feed
from e2e.suite.job import Job, condition, message, settled
from e2e.suite.samples import sample
from e2e.suite.world import RESTRICTED, ROOT, World, config_map, filled

START_S, READY_S, BALANCED_S, STOP_S = 240.0, 120.0, 200.0, 120.0
POD, NAME, APPLICATION = "theirs", "payments", "clicks"
"""The driver's map is that of one StreamJob, whatever it is adopted as: each has the name of the one before it."""
SMALL = {"executors": {"min": 2, "max": 3}, "balancing": {"statisticsPeriod": "10s", "maxLoadDistance": 12}}


def test_suspend_stops_the_driver_in_order(job: Job, say: Sayer) -> None:
    job.feed.rate = 0
    begun_s = time.monotonic()
    job.patch({"suspend": True})
    job.until(lambda one: one.get("phase") == "Suspended" and not job.pods("driver"), STOP_S, "suspended")
    job.until_executors(0)
    say(f"driver and executors gone after {time.monotonic() - begun_s:.0f} s")


@pytest.fixture(scope="module")
def adopted(installed: World) -> Iterator[Job]:
    """A plain driver pod, and a StreamJob that names its labels."""
    kubectl = installed.namespace("adopted", RESTRICTED)
    volume = installed.volume(kubectl, "adopted")
    kubectl.apply(config_map("app", job__py=ROOT / "samples" / "demo" / "job.py"))
    feed = Feed(volume)
    feed.start()
    text = filled("adopted.yaml", AGENT_IMAGE=installed.images.agent, SPARK_IMAGE=installed.images.spark)
    kubectl("apply", "-f", "-", text=text)
    kubectl.apply(sample("adopted-driver", {"spec": SMALL}))
    yield Job(kubectl, volume, feed, NAME)
    feed.end()
    kubectl("delete", "pod", POD, "--wait=false")  # its executors go with it: cores for what comes next


def test_a_running_driver_is_adopted_and_balanced(adopted: Job, say: Sayer) -> None:
    adopted.until(lambda one: condition(one, "Ready").startswith("True"), START_S, "Ready")
    status = adopted.until(settled(2, 3), BALANCED_S, "balanced")
    assert adopted.failed_tasks() == ()
    say(f"load distance {status['load'].get('distance')}; {adopted.require_exact()}")


def test_the_driver_stays_when_its_streamjob_is_deleted(adopted: Job, say: Sayer) -> None:
    pod = _driver(adopted)["metadata"]["uid"]
    adopted.kubectl("delete", "streamjob", NAME, "--timeout=50s")
    say(adopted.require_exact())
    found = _driver(adopted)
    assert found["metadata"]["uid"] == pod
    assert found["status"]["phase"] == "Running"


def _driver(adopted: Job) -> dict[str, Any]:
    return adopted.kubectl.get("pod", POD)


def _adopt_again(adopted: Job, kind: SparkApplications, name: str, **spec: Any) -> None:
    """The sample, for the driver that runs, as if that operator had started it. Skips where the operator is real."""
    kubectl = adopted.kubectl
    if kind.is_real(kubectl.get("crd", kind.crd_name)):
        pytest.skip(f"{kind.crd_name} is there: its operator would start a driver of its own")
    kubectl("delete", "streamjob", NAME, "--ignore-not-found", "--timeout=50s")
    kubectl.apply(kind.crd())
    kubectl("wait", ESTABLISHED, "--timeout=30s", "crd", kind.crd_name)
    kubectl.apply(kind.application(APPLICATION, **spec))
    kubectl("label", "--overwrite", "pod", POD, f"{kind.label}={APPLICATION}")
    kubectl.apply(sample(name, {"metadata": {"name": NAME}, "spec": SMALL}))


def test_a_kubeflow_spark_application_is_adopted_and_gets_an_executor(adopted: Job, say: Sayer) -> None:
    pod = _driver(adopted)["metadata"]["uid"]
    _adopt_again(adopted, KUBEFLOW, "adopted-kubeflow", type="Python", executor={"instances": 2})
    adopted.until(lambda one: condition(one, "Ready") == "True/Adopted", READY_S, "adopted")
    adopted.patch({"executors": {"min": 3}})
    adopted.until(settled(3), BALANCED_S, "balanced on three executors")
    assert adopted.failed_tasks() == ()
    assert _driver(adopted)["metadata"]["uid"] == pod
    say(adopted.require_exact())


def test_an_apache_spark_application_tells_what_cannot_be_done_for_it(adopted: Job, say: Sayer) -> None:
    bounds = {"instanceConfig": {"initExecutors": 2, "minExecutors": 3, "maxExecutors": 8}}
    _adopt_again(adopted, APACHE, "adopted-apache", applicationTolerations=bounds)
    status = adopted.until(
        lambda one: condition(one, "ActuationAvailable") == "False/AdoptedWithLimits", READY_S, "adopted with limits"
    )
    assert condition(status, "Ready") == "True/AdoptedWithLimits"
    told = message(status, "ActuationAvailable")
    assert "expects at least 3 executors (instanceConfig.minExecutors)" in told
    say(told)
