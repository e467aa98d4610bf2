"""A real API server takes each sample, and the chart as it is rendered for each set of values."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e.cluster import helm
from e2e.cluster.kubectl import ESTABLISHED
from kubectl import Kubectl, eventually

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "samples" / "streamjobs").glob("*.yaml"))
MATRIX: dict[str, tuple[str, ...]] = {
    "defaults": (),
    "two operators": ("replicas=2", "priorityClassName=system-cluster-critical"),
    "some namespaces": ("watch.namespaces={NAMESPACE}",),
    "another account": ("serviceAccount.create=false", "serviceAccount.name=theirs", "rbac.create=false"),
    "nothing but the operator": ("crds.install=false", "pdb.enabled=false"),
    "everything": ("podMonitor.enabled=true", "prometheusRule.enabled=true", "dashboards.enabled=true", "replicas=3"),
    "placed": ("nodeSelector.pool=system", "tolerations[0].key=pool", "tolerations[0].operator=Exists"),
}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_api_server_takes_the_sample(kubectl: Kubectl, path: Path) -> None:
    assert "created (server dry run)" in kubectl("apply", "--dry-run=server", "--validate=strict", "-f", str(path))


def test_there_is_a_sample_for_each_mode_and_each_kind_of_application() -> None:
    specs = [yaml.safe_load(path.read_text(encoding="utf-8"))["spec"] for path in SAMPLES]
    assert {spec["balancing"]["mode"] for spec in specs} == {"Recommend", "Approve", "Auto"}
    assert {spec["applicationRef"]["apiVersion"] for spec in specs if "applicationRef" in spec} == {
        "v1",
        "sparkoperator.k8s.io/v1beta2",
        "spark.apache.org/v1",
    }


def _prometheus_operator(kubectl: Kubectl) -> None:
    """Stands for the Prometheus operator: its kinds, without their schemas."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}
    for kind in ("PodMonitor", "PrometheusRule"):
        plural = f"{kind.lower()}s"
        names = {"kind": kind, "plural": plural, "singular": kind.lower()}
        spec = {"group": "monitoring.coreos.com", "scope": "Namespaced", "names": names, "versions": [version]}
        metadata = {"name": f"{plural}.monitoring.coreos.com"}
        crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata}
        kubectl.apply({**crd, "spec": spec})
        kubectl("wait", ESTABLISHED, "--timeout=30s", f"crd/{metadata['name']}")
        eventually(lambda plural=plural: kubectl.run("get", plural).returncode == 0)


@pytest.fixture
def program() -> Path:
    found = helm.find()
    if found is None:
        pytest.skip(helm.HOW_TO_GET)
    return found


@pytest.mark.parametrize("settings", MATRIX.values(), ids=MATRIX)
def test_the_api_server_takes_the_chart(
    kubectl: Kubectl, program: Path, namespace: str, settings: tuple[str, ...]
) -> None:
    if "podMonitor.enabled=true" in settings:
        _prometheus_operator(kubectl)
    command = [str(program), "template", "sj", str(ROOT / "charts" / "streamjob"), f"--namespace={namespace}"]
    command += [
        "--kube-version=1.34",
        "--no-hooks",
        *(f"--set={one}".replace("NAMESPACE", namespace) for one in settings),
    ]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    documents = [one for one in yaml.safe_load_all(text) if one]
    # The Lease of a whole cluster, and the right to it, are in a namespace of their own.
    places = {one["metadata"].get("namespace", namespace) for one in documents}
    told = [line for place in places for line in _tried(kubectl, place, namespace, documents)]
    assert len(told) == len(documents) >= 1


def _tried(kubectl: Kubectl, place: str, default: str, documents: list[dict[str, Any]]) -> list[str]:
    """What the API server says of the documents of one namespace."""
    here = [one for one in documents if one["metadata"].get("namespace", default) == place]
    dry = ("apply", f"--namespace={place}", "--dry-run=server", "--validate=strict", "--server-side", "-f", "-")
    return kubectl(*dry, text=yaml.safe_dump_all(here)).splitlines()


def test_the_charts_pods_fit_into_a_restricted_namespace(kubectl: Kubectl, program: Path, namespace: str) -> None:
    kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    account = ("--set=serviceAccount.create=false", "--set=serviceAccount.name=default")
    command = [str(program), "template", "sj", str(ROOT / "charts" / "streamjob"), "--kube-version=1.34", *account]
    text = subprocess.run([*command, f"--namespace={namespace}"], capture_output=True, text=True, check=True).stdout
    documents = [one for one in yaml.safe_load_all(text) if one]
    templates = [one["spec"]["template"]["spec"] for one in documents if one["kind"] == "Deployment"]
    specs = [*templates, *(one["spec"] for one in documents if one["kind"] == "Pod")]
    assert len(specs) == 2
    for number, spec in enumerate(specs):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, "spec": spec}
        assert "created (server dry run)" in kubectl("create", "--dry-run=server", "-f", "-", text=json.dumps(pod))


def test_helm_finds_nothing_to_complain_about(program: Path) -> None:
    command = [str(program), "lint", "--strict", str(ROOT / "charts" / "streamjob")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
