"""A job with an application and its driver, on a real API server: the test is scheduler and kubelet."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from kubectl import Kubectl

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import (
    PODS,
    STREAM_JOBS,
)
from streamjob_operator.kube.api.reading import read_job
from streamjob_operator.kube.driver import (
    DriverState,
    JobFacts,
    change_to_status,
    from_status,
    reconcile_driver,
    to_status,
)

POD = "orders-driver"
JOB: dict[str, Any] = {
    "apiVersion": "streamjob.dev/v1alpha1",
    "kind": "StreamJob",
    "metadata": {"name": "orders"},
    "spec": {
        "application": {
            "image": "registry.example/orders:1",
            "mainFile": "local:///opt/app/job.py",
            "restart": {"policy": "Always", "backoff": {"initial": "10s", "max": "1m"}},
        },
        "executors": {"min": 1, "max": 4},
    },
}


class Operator:
    """Reconciles one job by a clock of its own; the memory goes through the status."""

    def __init__(self, api: KubeApi, namespace: str) -> None:
        self.api = api
        self.namespace = namespace
        self.now_s = 1_000_000_000.0
        self.told: dict[str, Any] = {}
        self.changed: dict[str, Any] = {}

    def facts(self) -> JobFacts:
        document = self.api.get(STREAM_JOBS, "orders", self.namespace)
        assert document is not None
        reading = read_job(document)
        assert reading.job is not None, reading.mistakes
        assert reading.job.spec.application is not None
        return JobFacts(
            name="orders",
            namespace=self.namespace,
            generation=reading.generation,
            owner=document,
            spec=reading.job.spec,
            application=reading.job.spec.application,
            executors=2,
            deleted_at_s=None,
        )

    def step(self, wait_s: float = 0.0, **changes: Any) -> DriverState:
        self.now_s += wait_s
        memory = from_status(self.told, self.changed)
        state = reconcile_driver(
            self.api, dataclasses.replace(self.facts(), **changes), memory, self.now_s, repair=False
        )
        self.told, self.changed = to_status(state.memory, state.pod), change_to_status(state.memory.change)
        return state

    def pod(self) -> dict[str, Any] | None:
        return self.api.get(PODS, POD, self.namespace)

    def say(self, status: dict[str, Any], pod: str = POD) -> None:
        """What a kubelet or a scheduler would write."""
        self.api.merge_patch(PODS, pod, self.namespace, {"status": status}, subresource="status")

    def gone(self) -> bool:
        """Without a kubelet nobody ends a pod that was bound to a node; ours never was, so it goes at once."""
        return self.pod() is None


def running(ready: bool) -> dict[str, Any]:
    state = {"running": {"startedAt": "2001-09-09T01:46:40Z"}}
    return {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        "containerStatuses": [{**container("driver", state), "ready": ready}],
    }


def failed(exit_code: int) -> dict[str, Any]:
    state = {"exitCode": exit_code, "startedAt": "2001-09-09T01:46:40Z", "finishedAt": "2001-09-09T01:46:45Z"}
    return {"phase": "Failed", "containerStatuses": [container("driver", {"terminated": state})]}


def container(name: str, state: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": state}


@pytest.fixture
def operator(api_server: Path, namespace: str, kubectl: Kubectl) -> Operator:
    kubectl.apply(JOB)
    return Operator(KubeApi.from_kubeconfig(api_server), namespace)


def change(kubectl: Kubectl, patch: dict[str, Any]) -> None:
    kubectl("patch", "streamjob", "orders", "--type=merge", "-p", json.dumps({"spec": patch}))
