"""Nothing that is looked at may be cut off: a pod says the same before and after."""

from __future__ import annotations

from typing import Any

from streamjob_operator.kube.api.kinds import PODS
from streamjob_operator.kube.driver.observe import driver_pod
from streamjob_operator.kube.names import APPLICATION_HASH, Label
from streamjob_operator.kube.pods.executors import EXECUTOR, read_pods
from streamjob_operator.kube.watched.trimmed import trimmed

ENDED = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "message": "out", "finishedAt": "2026-01-01T00:00:00Z"}}
POD: dict[str, Any] = {
    "metadata": {
        "name": "orders-driver",
        "namespace": "n",
        "uid": "u",
        "resourceVersion": "7",
        "labels": {Label.MARKED.value: "true", EXECUTOR: "3", "spark-role": "executor"},
        "annotations": {APPLICATION_HASH: "abc", "other": "x" * 1000},
        "ownerReferences": [{"kind": "Pod", "uid": "d", "name": "driver", "apiVersion": "v1"}],
        "managedFields": [{"manager": "spark"}],
    },
    "spec": {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 120,
        "containers": [{"name": "main", "env": [{"name": "A", "value": "b"}]}, {"name": "sidecar"}],
    },
    "status": {
        "phase": "Running",
        "podIP": "10.0.0.1",
        "conditions": [{"type": "Ready", "status": "True", "lastProbeTime": None}],
        "containerStatuses": [{"name": "main", "ready": True, "state": ENDED}, {"name": "sidecar", "ready": True}],
    },
}


def test_driver_and_executor_read_the_same() -> None:
    kept = trimmed(PODS, POD)
    assert driver_pod(kept) == driver_pod(POD)
    assert read_pods([kept]) == read_pods([POD])
    assert "x" * 1000 not in str(kept)


def test_a_pod_that_has_just_been_made_has_no_status() -> None:
    bare = {"metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1"}}
    assert driver_pod(trimmed(PODS, bare)) == driver_pod(bare)
