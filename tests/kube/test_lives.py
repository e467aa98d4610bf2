"""A StreamJob that is made again under its old name, on a real API server with its garbage collector."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kubectl import Kubectl, eventually

from streamjob_agent.wire import Assignment
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.finalizer import hold, release
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, ROLE_BINDINGS, ROLES, STREAM_JOBS, Kind
from streamjob_operator.kube.driver.grants import grant_map
from streamjob_operator.kube.job.drivers import KubeDrivers
from streamjob_operator.kube.job.keeper import Keeper
from streamjob_operator.kube.job.tools import Tools
from streamjob_operator.kube.names import FIELD_MANAGER, FINALIZER
from streamjob_operator.kube.partition_map.maps import Maps
from streamjob_operator.kube.report.events import Events

PLAN = Assignment(generation=7, application_id="spark-1", query_id="q", executors_target=3, marked_for_removal=("2",))
REFERENCE = {"kind": "Pod", "apiVersion": "v1", "name": "driver"}
JOB: dict[str, Any] = {
    "apiVersion": "streamjob.dev/v1alpha1",
    "kind": "StreamJob",
    "metadata": {"name": "orders"},
    "spec": {"applicationRef": REFERENCE, "executors": {"min": 1, "max": 4}},
}


class Lives:
    """The job, and what the operator does for it by hand."""

    def __init__(self, api: KubeApi, kubectl: Kubectl, namespace: str) -> None:
        self.api, self.kubectl, self.namespace = api, kubectl, namespace

    def begin(self) -> dict[str, Any]:
        """Make it, and read it."""
        self.kubectl.apply(JOB)
        found = self.api.get(STREAM_JOBS, "orders", self.namespace)
        assert found is not None
        return found

    def child(self, kind: Kind, name: str) -> dict[str, Any] | None:
        """One of its objects."""
        return self.api.get(kind, name, self.namespace)

    def planned(self) -> dict[str, Any]:
        """A job whose map has a plan, with the rights of its driver."""
        job = self.begin()
        maps = Maps(self.api, job)
        maps.write([PLAN], maps.ensure())
        grant_map(self.api, job, "spark")
        return job

    def keeper(self) -> Keeper:
        """An operator that has just begun, as far as this job is concerned."""
        events = Events(self.api)
        return Keeper(
            Tools(api=self.api, drivers=KubeDrivers(self.api, events), events=events), self.namespace, "orders"
        )

    def restore(self, status: dict[str, Any]) -> None:
        """As a backup's tool does it, once it has made the object: the status is its own from then on."""
        patch = ("patch", "streamjob", "orders", "--subresource=status", "--type=merge", "--field-manager=backup")
        self.kubectl(*patch, "-p", json.dumps({"status": status}))

    def writers(self) -> set[str]:
        """Whose fields the status is made of."""
        found = self.kubectl.get("streamjob", "orders", "--show-managed-fields")["metadata"]["managedFields"]
        return {one["manager"] for one in found if one.get("subresource") == "status"}


@pytest.fixture
def lives(api_server: Path, kubectl: Kubectl, namespace: str) -> Lives:
    return Lives(KubeApi.from_kubeconfig(api_server), kubectl, namespace)


def test_a_map_with_a_plan_goes_with_its_job_as_does_everything_else(lives: Lives) -> None:
    job = lives.planned()
    for kind, name in ((PARTITION_MAPS, "orders"), (ROLES, "orders-map"), (ROLE_BINDINGS, "orders-map")):
        found = lives.child(kind, name)
        assert found is not None
        assert [one["uid"] for one in found["metadata"]["ownerReferences"]] == [job["metadata"]["uid"]]
    lives.kubectl("delete", "streamjob", "orders")
    for kind, name in ((PARTITION_MAPS, "orders"), (ROLES, "orders-map"), (ROLE_BINDINGS, "orders-map")):
        eventually(lambda kind=kind, name=name: lives.child(kind, name) is None)


def test_a_job_that_is_made_again_at_once_begins_with_a_map_of_its_own(lives: Lives) -> None:
    former = lives.planned()
    lives.kubectl("delete", "streamjob", "orders")
    job = lives.begin()
    assert job["metadata"]["uid"] != former["metadata"]["uid"]
    seen = Maps(lives.api, job).ensure()
    assert (seen.generation, seen.agent) == (0, None)
    grown = eventually(lambda: lives.child(PARTITION_MAPS, "orders"))
    assert [one["uid"] for one in grown["metadata"]["ownerReferences"]] == [job["metadata"]["uid"]]


def test_a_map_left_behind_by_its_owner_is_replaced(lives: Lives) -> None:
    """As after `kubectl delete --cascade=orphan`."""
    lives.planned()
    lives.kubectl("delete", "streamjob", "orders", "--cascade=orphan")
    orphan = lives.child(PARTITION_MAPS, "orders")
    assert orphan is not None
    assert "ownerReferences" not in orphan["metadata"]
    maps = Maps(lives.api, lives.begin())
    assert maps.read() is None
    assert maps.ensure().generation == 0
    maps.write([PLAN], maps.ensure())
    seen = maps.read()
    assert seen is not None
    assert seen.generation == PLAN.generation


def test_a_finalizer_that_a_backup_brought_back_comes_off(lives: Lives) -> None:
    """`kubectl apply` of an exported manifest owns the finalizer: server-side apply would leave it for ever."""
    lives.kubectl.apply({**JOB, "metadata": {"name": "orders", "finalizers": [FINALIZER]}})
    job = lives.api.get(STREAM_JOBS, "orders", lives.namespace)
    assert job is not None
    lives.kubectl("delete", "streamjob", "orders", "--wait=false")
    release(lives.api, hold(lives.api, job))
    eventually(lambda: lives.api.get(STREAM_JOBS, "orders", lives.namespace) is None)


def test_a_status_that_a_backup_brought_back_is_taken_away_first(lives: Lives) -> None:
    """Server-side apply takes no field of the backup's tool away: what ours lacks would pass for ours from then on."""
    lives.begin()
    lives.keeper().turn()
    told = lives.kubectl.get("streamjob", "orders")
    lives.kubectl("delete", "streamjob", "orders", "--wait=false")
    lives.keeper().turn()
    eventually(lambda: lives.api.get(STREAM_JOBS, "orders", lives.namespace) is None)
    job = lives.begin()
    former = {**told["status"], "handled": {"stop": "yesterday"}, "memory": "of-a-former-life", "why": "Former"}
    lives.restore(former)
    assert lives.writers() == {"backup"}
    keeper = lives.keeper()
    for _ in range(3):
        keeper.turn()
        status = lives.kubectl.get("streamjob", "orders")["status"]
        assert status["uid"] == job["metadata"]["uid"] != told["metadata"]["uid"]
        assert not status.get("handled")
        assert status.get("memory") == told["status"].get("memory")
        assert (status["phase"], status["why"]) == (told["status"]["phase"], told["status"]["why"])
        assert lives.writers() == {FIELD_MANAGER}
