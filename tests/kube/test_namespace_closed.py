"""A namespace of several in which the operator has no rights: its tenant may have deleted it, or our binding there."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e.cluster import helm
from kube_jobs import JOB, stream_job
from kubectl import Kubectl, eventually, program
from operator_process import OperatorProcess

CHART = Path(__file__).resolve().parents[2] / "charts" / "streamjob"
ROLES = ("Role", "RoleBinding", "ServiceAccount")


@pytest.fixture
def other(api_server: Path) -> Iterator[str]:
    """Another tenant's namespace."""
    kubectl, name = Kubectl(program(), api_server), f"test-{uuid.uuid4().hex[:8]}"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


def roles(namespace: str, other: str) -> list[dict[str, Any]]:
    """What the chart makes for an operator of both."""
    found = helm.find()
    if found is None:
        pytest.skip(helm.HOW_TO_GET)
    settings = f"--set=watch.namespaces={{{namespace},{other}}},lease.namespace={namespace}"
    command = [str(found), "template", "sj", str(CHART), f"--namespace={namespace}", "--kube-version=1.34", settings]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    return [one for one in yaml.safe_load_all(made.stdout) if one and one["kind"] in ROLES]


def kubeconfig_of(kubectl: Kubectl, admin: Path, to: Path) -> Path:
    """Of the operator's account."""
    config = yaml.safe_load(admin.read_text(encoding="utf-8"))
    token = kubectl("create", "token", "sj").strip()
    config["users"] = [{"name": one["name"], "user": {"token": token}} for one in config["users"]]
    to.write_text(yaml.safe_dump(config), encoding="utf-8")
    return to


def looked_after(kubectl: Kubectl) -> bool:
    return bool(kubectl.get("streamjob", JOB).get("status", {}).get("conditions"))


def test_one_that_is_closed_keeps_no_other_waiting_and_is_looked_after_once_it_is_open(
    kubectl: Kubectl, namespace: str, other: str, api_server: Path, tmp_path: Path
) -> None:
    theirs, made = Kubectl(program(), api_server, other), roles(namespace, other)
    kubectl.apply(*(one for one in made if one["metadata"]["namespace"] == namespace))
    kubeconfig = kubeconfig_of(kubectl, api_server, tmp_path / "kubeconfig")
    for one in (kubectl, theirs):
        one.apply(stream_job())
    with OperatorProcess(kubeconfig, namespace, f"--namespace={other}", "--planners=1") as operator:
        eventually(lambda: looked_after(kubectl), 60.0)
        assert not looked_after(theirs)
        theirs.apply(*(one for one in made if one["metadata"]["namespace"] == other))
        eventually(lambda: looked_after(theirs), 60.0)
        assert operator.process is not None
        assert operator.process.poll() is None
