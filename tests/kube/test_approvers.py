"""Who may only approve: by the chart's role and policy he steers a job, and changes nothing of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from e2e.cluster import helm
from kubectl import Kubectl, eventually
from test_crds import job

from streamjob_operator.kube.names import Annotation

CHART = Path(__file__).resolve().parents[2] / "charts" / "streamjob"
KINDS = ("ClusterRole", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
ANNA = "--as=anna"


@pytest.fixture
def approver(kubectl: Kubectl, namespace: str) -> Iterator[Kubectl]:
    """A namespace with a job, in which Anna may approve and Bert may edit, too."""
    found = helm.find()
    if found is None:
        pytest.skip(helm.HOW_TO_GET)
    command = [str(found), "template", "sj", str(CHART), f"--namespace={namespace}", "--kube-version=1.34"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    named = [one for one in yaml.safe_load_all(text) if one and one["kind"] in KINDS]
    kubectl.apply(*(one for one in named if one["metadata"]["name"].endswith(("-approve", "-edit"))))
    for user, roles in {"anna": ["approve"], "bert": ["approve", "edit"]}.items():
        for role in roles:
            whose = (f"--user={user}", f"--clusterrole=sj-{namespace}-{role}")
            kubectl("create", "rolebinding", f"{user}-{role}", *whose)
    kubectl.apply(job(suspend=False))
    eventually(lambda: patch(kubectl, {"spec": {"suspend": True}}, ANNA, "--dry-run=server"), timeout_s=60.0)
    yield kubectl
    kubectl("delete", ",".join(KINDS), "-l", "app.kubernetes.io/instance=sj", "--ignore-not-found")


def patch(kubectl: Kubectl, change: dict[str, Any], *options: str) -> str:
    """Why it is refused; nothing where it is taken."""
    done = kubectl.run("patch", "sj", "a", "--type=merge", "-p", json.dumps(change), *options)
    return done.stderr if done.returncode else ""


def test_an_approver_steers_and_changes_nothing(approver: Kubectl) -> None:
    for one in Annotation:
        assert patch(approver, {"metadata": {"annotations": {one.value: "x"}}}, ANNA) == ""
    assert patch(approver, {"metadata": {"annotations": {Annotation.PAUSE.value: None}}}, ANNA) == ""
    assert "spec cannot be changed with the right to approve" in patch(approver, {"spec": {"suspend": True}}, ANNA)
    for metadata in ({"labels": {"team": "b"}}, {"finalizers": ["example.com/x"]}):
        assert "labels, finalizers and owners cannot" in patch(approver, {"metadata": metadata}, ANNA)
    assert "only streamjob.dev/approve" in patch(approver, {"metadata": {"annotations": {"other": "x"}}}, ANNA)
    assert "forbidden" in approver.run("delete", "sj", "a", ANNA).stderr


def test_nobody_else_is_held_up(approver: Kubectl) -> None:
    change = {"spec": {"suspend": True}, "metadata": {"labels": {"team": "b"}}}
    assert patch(approver, change, "--as=bert") == ""
    assert patch(approver, {"metadata": {"finalizers": ["example.com/x"]}}) == ""
    assert patch(approver, {"metadata": {"finalizers": None}}) == ""
