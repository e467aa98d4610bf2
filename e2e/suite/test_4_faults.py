"""What may be taken away while the job runs: the operator in the middle of a drain, the driver, an executor."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from e2e.cluster.kubectl import Kubectl
from e2e.suite.evidence import Sayer
from e2e.suite.feed import QUIET, RUSH
from e2e.suite.job import Job, condition, settled
from e2e.suite.world import CHART, RELEASE, SYSTEM, World

DRAIN_S, GROW_S, SHRINK_S, RESTART_S = 120.0, 240.0, 400.0, 200.0
OPERATOR = "--selector=app.kubernetes.io/name=streamjob-operator"


@pytest.fixture
def draining(job: Job) -> Iterator[Job]:
    """The job with an executor that is being drained."""
    if not settled(3, 4)(job.status()):
        job.feed.rate = RUSH
        job.until(settled(3, 4), GROW_S, "balanced on more executors")
    job.feed.rate = QUIET
    job.until(lambda one: (one.get("executors") or {}).get("markedForRemoval"), DRAIN_S, "an executor is marked")
    yield job
    job.feed.rate = QUIET


def _is_drained(job: Job, say: Sayer) -> None:
    job.until(settled(2), SHRINK_S, "balanced on two executors again")
    events = job.spark()
    assert events.failed_tasks == ()
    job.until_executors(2)
    say(f"0 of {events.tasks:,} tasks failed; {len(events.removed)} executors removed so far")


def test_operator_pod_deleted_in_mid_drain(draining: Job, installed: World, say: Sayer) -> None:
    installed.kubectl(SYSTEM)("delete", "pod", OPERATOR, "--grace-period=0", "--force", "--wait=false")
    _is_drained(draining, say)


def test_operator_upgraded_by_helm_in_mid_drain(draining: Job, installed: World, say: Sayer) -> None:
    kubectl = installed.kubectl(SYSTEM)
    before = _operators(kubectl)
    changed = "--set=operator.logLevel=debug"
    installed.helm("upgrade", RELEASE, str(CHART), *installed.chart_values(), changed, "--wait", "--timeout=120s")
    _is_drained(draining, say)
    after = _operators(kubectl)
    assert after
    assert not before & after


def _operators(kubectl: Kubectl) -> set[str]:
    """Uids of operators that are not on their way out: Helm is done when the new one is ready."""
    metadata = [one["metadata"] for one in kubectl.list("pods", OPERATOR)]
    return {one["uid"] for one in metadata if "deletionTimestamp" not in one}


def test_results_are_exact_after_operators_came_and_went(job: Job, say: Sayer) -> None:
    say(job.require_exact())


def test_executor_pod_deleted(job: Job, say: Sayer) -> None:
    job.until(settled(2), SHRINK_S, "balanced on two executors")
    before, begun_s = job.pods("executor"), time.monotonic()
    job.kubectl("delete", "pod", next(iter(before)), "--grace-period=0", "--force", "--wait=false")
    job.until(
        lambda _: len(job.pods("executor")) == 2 and job.pods("executor") != before, RESTART_S, "another executor came"
    )
    job.until(settled(2), RESTART_S, "balanced on two executors")
    say(f"balanced again after {time.monotonic() - begun_s:.0f} s; {job.require_exact()}")


def test_driver_pod_deleted_resumes_from_its_map(job: Job, say: Sayer) -> None:
    before, generation = job.pods("driver"), job.map()["spec"]["generation"]
    begun_s = time.monotonic()
    job.kubectl("delete", "pod", next(iter(before)), "--wait=false")

    def is_new(status: dict[str, object]) -> bool:
        return (
            bool(job.pods("driver")) and job.pods("driver") != before and condition(status, "Ready").startswith("True")
        )

    job.until(is_new, RESTART_S, "another driver is Ready")
    ready_s = time.monotonic() - begun_s
    job.until(settled(2, 3, 4), RESTART_S, "balanced")  # a driver that has just started may want more for a while
    assert job.map()["spec"]["generation"] >= generation
    say(f"Ready after {ready_s:.0f} s; {job.require_exact()}")
