"""What a driver's account may not do, tried with its own token's name; and what a restricted namespace lets in."""

from __future__ import annotations

import json
import subprocess

import pytest

from e2e.suite.job import NAME, NAMESPACE, Job
from e2e.suite.world import SYSTEM

ACCOUNT = f"system:serviceaccount:{NAMESPACE}:{NAME}-driver"
OTHER_MAP = {
    "apiVersion": "streamjob.dev/v1alpha1",
    "kind": "PartitionMap",
    "metadata": {"name": "somebody-elses"},
    "spec": {},
}
PATCH = ("--type=merge", "-p", '{"spec":{"generation":99}}')
ATTACKS = {
    "reads another job's map": ("get", "partitionmap", "somebody-elses"),
    "lists all maps": ("get", "partitionmaps"),
    "writes another job's map": ("patch", "partitionmap", "somebody-elses", *PATCH),
    "writes the status of another job's map": (
        "patch",
        "partitionmap",
        "somebody-elses",
        "--subresource=status",
        "--type=merge",
        "-p",
        '{"status":{}}',
    ),
    "writes its own orders": ("patch", "partitionmap", NAME, *PATCH),
    "deletes its own map": ("delete", "partitionmap", NAME),
    "changes its own StreamJob": ("annotate", "streamjob", NAME, "streamjob.dev/pause=true"),
    "reads secrets": ("get", "secrets"),
    "reads another namespace's pods": ("get", "pods", "--namespace", SYSTEM),
    "reads all pods": ("get", "pods", "--all-namespaces"),
    "gives itself rights": (
        "create",
        "rolebinding",
        "more",
        "--clusterrole=admin",
        f"--serviceaccount={NAMESPACE}:{NAME}-driver",
    ),
    "makes a token": ("create", "token", "default"),
}


def _as_driver(job: Job, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*job.kubectl.command, f"--as={ACCOUNT}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_drivers_account_reads_its_own_map(job: Job) -> None:
    assert _as_driver(job, "get", "partitionmap", NAME).returncode == 0


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_drivers_account_is_refused_when_it(job: Job, attack: tuple[str, ...]) -> None:
    job.kubectl.apply(OTHER_MAP)
    done = _as_driver(job, *attack)
    assert done.returncode != 0
    assert "forbidden" in done.stderr.lower(), done.stderr


def test_a_restricted_namespace_has_the_job_and_refuses_a_privileged_pod(job: Job) -> None:
    labels = job.kubectl.get("namespace", NAMESPACE)["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert job.pods("driver")
    assert job.pods("executor")
    container = {"name": "a", "image": "a", "securityContext": {"privileged": True}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "root"}, "spec": {"containers": [container]}}
    command = [*job.kubectl.command, "create", "--dry-run=server", "-f", "-"]
    done = subprocess.run(command, input=json.dumps(pod), capture_output=True, text=True, timeout=60, check=False)
    assert 'violates PodSecurity "restricted' in done.stderr
