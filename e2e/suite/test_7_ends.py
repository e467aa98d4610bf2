"""How a driver may end on nodes: by itself beside a sidecar, by its memory, by an eviction; and a job made again."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from e2e.suite.evidence import Sayer
from e2e.suite.feed import Feed
from e2e.suite.job import Job, Status
from e2e.suite.world import HERE, World, config_map, filled

END_S, GONE_S = 120.0, 90.0
NAME, ACCOUNT = "ends", "clouds"


@pytest.fixture(scope="module")
def ending(installed: World) -> Iterator[Job]:
    """The job, not made yet, with the account that its template names."""
    kubectl = installed.namespace(NAME)
    kubectl.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}},
        config_map("app", ends__py=HERE / "ends.py"),
    )
    folder = installed.volumes / NAME  # nothing is fed
    yield Job(kubectl, folder, Feed(folder), NAME)
    kubectl("delete", "streamjob", NAME, "--ignore-not-found", "--wait=false")


def _make(ending: Job, installed: World) -> None:
    ending.kubectl("apply", "-f", "-", text=filled("ends.yaml", AGENT_IMAGE=installed.images.agent))


def _says(ending: Job, argument: str) -> None:
    """Another program for its driver."""
    ending.patch({"application": {"args": [argument]}})


def _driver(status: Status) -> Status:
    return status.get("driver") or {}


def test_a_driver_that_fails_beside_a_sidecar_is_started_again_and_tells_why(
    ending: Job, installed: World, say: Sayer
) -> None:
    _make(ending, installed)
    status = ending.until(
        lambda one: _driver(one).get("ownEnds") == 2, END_S, "failed, and again after its one restart"
    )
    driver = _driver(status)
    assert status["phase"] == "Failed"
    assert driver["exitCode"] == 1
    assert "restartAt" not in driver
    assert "ValueError: no such topic: clicks" in driver["lastWords"]
    events = ending.kubectl.list("events.v1.events.k8s.io")
    assert any("no such topic: clicks" in one.get("note", "") for one in events)
    pod = ending.kubectl.get("pod", driver["pod"])
    running = [one["name"] for one in pod["status"]["containerStatuses"] if "running" in one["state"]]
    assert running == ["sidecar"]
    say(f"{driver['endReason']}, exit code 1, twice; kept with its sidecar running")


def test_one_that_takes_too_much_memory_is_told_as_that(ending: Job, say: Sayer) -> None:
    _says(ending, "hoard")
    status = ending.until(lambda one: _driver(one).get("endReason") == "OOMKilled", END_S, "killed for its memory")
    say(f"{_driver(status)['endReason']}, exit code {_driver(status)['exitCode']}")


def test_an_evicted_driver_is_started_again_under_the_users_account(ending: Job, say: Sayer) -> None:
    _says(ending, "wait")
    ending.until(lambda _: _running(ending), END_S, "a driver that runs")
    ((name, uid),) = ending.pods("driver").items()
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": NAME}}
    ending.kubectl(
        "create", "--raw", f"/api/v1/namespaces/{NAME}/pods/{name}/eviction", "-f", "-", text=json.dumps(eviction)
    )
    status = ending.until(
        lambda _: _running(ending) and uid not in ending.pods("driver").values(), END_S, "another driver that runs"
    )
    assert "exitCode" not in _driver(status)
    pod = ending.kubectl.get("pod", name)
    assert pod["spec"]["serviceAccountName"] == ACCOUNT
    bindings = ending.kubectl.list("rolebindings")
    assert [one["name"] for binding in bindings for one in binding["subjects"]] == [ACCOUNT]
    say(f"another pod, no exit code; it runs again as {ACCOUNT}")


def test_a_job_that_is_made_again_knows_nothing_of_its_former_life(ending: Job, installed: World) -> None:
    before = ending.kubectl.get("streamjob", NAME)["metadata"]["uid"]
    ending.kubectl("delete", "streamjob", NAME, f"--timeout={GONE_S:.0f}s", timeout_s=GONE_S + 10.0)
    ending.until(lambda _: not ending.map(), GONE_S, "its map is gone")
    _make(ending, installed)
    _says(ending, "wait")
    status = ending.until(lambda _: _running(ending), END_S, "a driver that runs")
    assert ending.kubectl.get("streamjob", NAME)["metadata"]["uid"] != before
    assert not {"ownEnds", "endReason", "lastWords"} & _driver(status).keys()
    owners = {one["uid"] for name in ("pods", "partitionmaps") for one in _owners(ending, name)}
    assert before not in owners
    assert owners


def _running(ending: Job) -> bool:
    """Whether it has a driver whose containers all run."""
    pods = [ending.kubectl.get("pod", name) for name in ending.pods("driver")]
    states = [one["state"] for pod in pods for one in pod.get("status", {}).get("containerStatuses", ())]
    return len(states) == 2 and all("running" in one for one in states)


def _owners(ending: Job, kind: str) -> list[dict[str, str]]:
    found = ending.kubectl.list(kind)
    return [owner for one in found for owner in one["metadata"].get("ownerReferences", ())]
