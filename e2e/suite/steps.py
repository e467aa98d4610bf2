"""What the pages install, upgrade and take away, checked. For a whole cluster, and for an API server without nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from e2e.suite.shell import Shell

SYSTEM, RELEASE = "streamjob-system", "streamjob"
INSTALL = (
    "helm install streamjob charts/streamjob --namespace streamjob-system --create-namespace "
    "--set image.repository=registry.example/streamjob-operator --set image.tag=0.1.0"
)
TEST = "helm test streamjob --namespace streamjob-system"
UPGRADE = (
    "helm upgrade streamjob charts/streamjob --namespace streamjob-system --reset-then-reuse-values --set image.tag=NEW"
)
ROLLBACK = "helm rollback streamjob --namespace streamjob-system"
UNINSTALL = "helm uninstall streamjob --namespace streamjob-system"
LET_GO = """kubectl patch streamjob NAME --type=merge -p '{"metadata":{"finalizers":null}}'"""
INSTALL_ELSEWHERE = (
    "helm install OTHER charts/streamjob --namespace OTHER-system --create-namespace --take-ownership "
    "--set image.repository=registry.example/streamjob-operator --set image.tag=0.1.0"
)
DELETE_JOBS = "kubectl delete streamjobs --all --all-namespaces"
DELETE_CRDS = "kubectl delete crd streamjobs.streamjob.dev partitionmaps.streamjob.dev"
SCALE = "kubectl scale streamjob NAME --replicas=4"
SAMPLES = {
    f"kubectl apply -f samples/streamjobs/{file}.yaml": name
    for file, name in {
        "adopted-driver": "payments",
        "adopted-kubeflow": "clicks",
        "adopted-apache": "clicks-apache",
    }.items()
}
OPERATOR_IS_GONE = (
    "kubectl wait pods --selector=app.kubernetes.io/name=streamjob-operator --for=delete --timeout=90s "
    "--namespace streamjob-system"
)
OPTIONS = {
    "--set 'watch.namespaces={team-a,team-b}'": "team-b",
    "--set podMonitor.enabled=true --set prometheusRule.enabled=true": "kind: PrometheusRule",
    "--set dashboards.enabled=true": "grafana_dashboard",
    "--set operator.executorQuotas.team-a=40": "--executor-quota=team-a=40",
}
"""Options of `helm install`, and what of them shows in what is installed."""


def install(shell: Shell) -> None:
    """As the page says; what helm prints at the end names the next command of the page."""
    said = shell(INSTALL)
    assert "STATUS: deployed" in said
    assert TEST in said
    assert _image(shell) == f"{shell.words['registry.example/streamjob-operator']}:{shell.words['0.1.0']}"


def options(shell: Shell) -> None:
    """As the chart renders with each of them."""
    for option, said in OPTIONS.items():
        shown = shell(f"helm template streamjob charts/streamjob --kube-version=1.34 {option}")
        shell.ran.append(option)
        assert said in shown, option


def upgrade_and_roll_back(shell: Shell) -> None:
    """To the tag that stands for the new version, and back."""
    before = _image(shell)
    shell(UPGRADE)
    assert _image(shell).rpartition(":")[2] == shell.words["NEW"]
    shell(ROLLBACK)
    assert _image(shell) == before


def let_go_without_an_operator(shell: Shell, name: str) -> None:
    """Uninstall leaves StreamJobs and CRDs; one that is deleted then waits for an operator, or for a person."""
    shell(UNINSTALL)
    assert shell.kubectl.get("deployments", f"--namespace={SYSTEM}") == {}
    shell(OPERATOR_IS_GONE)
    shell.kubectl("delete", "streamjob", name, "--wait=false")
    assert shell.kubectl.get("streamjob", name)["metadata"]["deletionTimestamp"]
    shell(LET_GO, NAME=name)
    assert shell.kubectl.get("streamjob", name) == {}


def install_elsewhere(shell: Shell) -> None:
    """Another release gets the CRDs that an uninstalled one left only where the reader says so; and is taken away."""
    words = {"OTHER": "another", "OTHER-system": "another-system"}
    with pytest.raises(AssertionError, match="invalid ownership metadata"):
        shell(INSTALL_ELSEWHERE.replace("--take-ownership ", ""), **words)
    assert "STATUS: deployed" in shell(INSTALL_ELSEWHERE, **words)
    shell("helm uninstall OTHER --namespace OTHER-system", **words)


def take_away(shell: Shell) -> None:
    """Everything, while an operator still runs."""
    shell(DELETE_JOBS)
    assert shell.kubectl.get("streamjobs", "--all-namespaces") == {}
    shell(UNINSTALL)
    install_elsewhere(shell)
    shell(DELETE_CRDS)
    kinds = shell.kubectl("get", "crd", "--output=name").split()
    assert not [one for one in kinds if "streamjob.dev" in one]


def scale(shell: Shell) -> None:
    name = shell.words["NAME"]
    assert f"{name} scaled" in shell(SCALE)
    assert shell.kubectl.get("streamjob", name)["spec"]["executors"]["replicas"] == 4
    back: dict[str, Any] = {"spec": {"executors": {"replicas": None}}}
    shell.kubectl("patch", "streamjob", name, "--type=merge", "-p", json.dumps(back))


def _image(shell: Shell) -> str:
    deployment = shell.kubectl.get("deployment", RELEASE, f"--namespace={SYSTEM}")
    image: str = deployment["spec"]["template"]["spec"]["containers"][0]["image"]
    return image
