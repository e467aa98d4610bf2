"""Two nodes: executors are spread, a node is drained under the job, and the one with its driver, and one is killed."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from e2e.suite.evidence import Sayer
from e2e.suite.feed import QUIET
from e2e.suite.job import NAME, Job, Status, condition, settled
from e2e.suite.nodes import Nodes
from e2e.suite.world import World

START_S, MOVED_S, RESTART_S, LOST_S = 300.0, 200.0, 240.0, 400.0


@pytest.fixture(scope="module")
def nodes(installed: World) -> Iterator[Nodes]:
    """At least two; the local cluster gets its second one now."""
    found = Nodes(installed.kubectl("default"))
    if len(found.usable()) < 2 and not installed.join():
        pytest.skip("the cluster has one node, and only a local one can be given another")
    found.require(2)
    yield found
    found.restore()


def _home(nodes: Nodes, job: Job) -> str:
    """The node of the driver."""
    (node,) = nodes.of(job.kubectl, job.pods("driver")).values()
    return node


def _executors(nodes: Nodes, job: Job) -> list[str]:
    """The node of each executor."""
    return sorted(nodes.of(job.kubectl, job.pods("executor")).values())


def test_executors_are_spread_over_the_nodes(job: Job, nodes: Nodes, say: Sayer) -> None:
    job.feed.rate = QUIET
    job.patch({"suspend": False, "executors": {"min": 2, "max": 2}})
    for pod in job.pods("executor"):  # where the job was not suspended: all are on the node that was there first
        job.kubectl("delete", "pod", pod, "--wait=false")
    job.until(lambda one: condition(one, "Ready").startswith("True"), START_S, "Ready")
    spread = job.until(
        lambda one: settled(2)(one) and len(set(_executors(nodes, job))) == 2, START_S, "balanced on two nodes"
    )
    say(f"driver on {_home(nodes, job)}, executors on {', '.join(_executors(nodes, job))}")
    assert spread["executors"]["ready"] == 2


def test_a_drained_nodes_executor_goes_elsewhere_and_the_driver_stays(job: Job, nodes: Nodes, say: Sayer) -> None:
    home, driver, before = _home(nodes, job), job.pods("driver"), job.pods("executor")
    (away,) = set(_executors(nodes, job)) - {home}
    begun_s = time.monotonic()
    nodes.drain(away, NAME)

    def moved(status: Status) -> bool:
        return settled(2)(status) and job.pods("executor") != before and _executors(nodes, job) == [home, home]

    job.until(moved, MOVED_S, f"balanced on two executors on {home}")
    took_s = time.monotonic() - begun_s
    assert job.pods("driver") == driver
    say(f"balanced again after {took_s:.0f} s; {job.require_exact()}")


def test_a_drained_nodes_driver_starts_elsewhere_and_resumes(job: Job, nodes: Nodes, say: Sayer) -> None:
    nodes.restore()
    home, driver, generation = _home(nodes, job), job.pods("driver"), job.map()["spec"]["generation"]
    begun_s = time.monotonic()
    nodes.drain(home, NAME)

    def resumed(status: Status) -> bool:
        new = job.pods("driver")
        return bool(new) and new != driver and condition(status, "Ready").startswith("True")

    job.until(resumed, RESTART_S, "another driver is Ready")
    ready_s = time.monotonic() - begun_s
    job.until(settled(2), RESTART_S, "balanced on two executors")
    assert home not in (_home(nodes, job), *_executors(nodes, job))
    assert job.map()["spec"]["generation"] >= generation
    say(f"Ready after {ready_s:.0f} s; {job.require_exact()}")


def test_a_killed_nodes_executor_is_replaced_and_results_are_exact(job: Job, nodes: Nodes, say: Sayer) -> None:
    if not nodes.can_be_killed():
        pytest.skip("only nodes that are containers of this machine's Docker engine can be killed")
    nodes.restore()
    nodes.require(2)
    for pod in job.pods("executor"):  # after the drains all are on the driver's node
        job.kubectl("delete", "pod", pod, "--wait=false")
    job.until(lambda one: settled(2)(one) and len(set(_executors(nodes, job))) == 2, START_S, "balanced on two nodes")
    home, driver, before = _home(nodes, job), job.pods("driver"), job.pods("executor")
    (away,) = set(_executors(nodes, job)) - {home}
    begun_s = time.monotonic()
    nodes.kill(away)

    def replaced(status: Status) -> bool:
        return settled(2)(status) and job.pods("executor") != before and _executors(nodes, job) == [home, home]

    job.until(replaced, LOST_S, f"balanced on two executors on {home}")
    took_s = time.monotonic() - begun_s
    assert job.pods("driver") == driver
    say(f"balanced again {took_s:.0f} s after the node was killed; {job.require_exact()}")
