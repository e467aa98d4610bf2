"""`streamjob operator --self-check` on a real API server: with all rights and a leader, and without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from e2e.cluster.controlplane import ControlPlane
from kubectl import eventually
from stage import Stage

from streamjob_operator.kube import rights


def check(kubeconfig: Path, namespace: str) -> tuple[int, str]:
    options = [f"--kubeconfig={kubeconfig}", f"--namespace={namespace}", f"--lease-namespace={namespace}"]
    command = [sys.executable, "-c", "from streamjob_operator.cli import main; main()", "operator", "--self-check"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def role(without: str) -> dict[str, Any]:
    rules = [
        {"apiGroups": [one.kind.group], "resources": [one.resource], "verbs": [verb]}
        for one in (*rights.WHERE_JOBS_ARE, *rights.WHERE_THE_LEASE_IS)
        for verb in one.verbs
        if f"{verb} {one.resource}" != without
    ]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "operator"},
        "rules": rules,
    }


def account(stage: Stage, control_plane: ControlPlane, without: str) -> Path:
    """A kubeconfig of an account with all rights of an operator but one."""
    stage.kubectl("create", "serviceaccount", "operator")
    stage.kubectl.apply(role(without))
    who = f"--serviceaccount={stage.namespace}:operator"
    stage.kubectl("create", "rolebinding", "operator", "--role=operator", who)
    token = stage.kubectl("create", "token", "operator").strip()
    return control_plane.kubeconfig_for(stage.namespace, token)


def test_all_is_well_with_the_rights_and_a_leader(stage: Stage, control_plane: ControlPlane) -> None:
    kubeconfig = account(stage, control_plane, without="")
    stage.operator().wait_for("This operator leads.")
    code, told = eventually(lambda: (found := check(kubeconfig, stage.namespace))[0] == 0 and found)
    assert code == 0
    lines = told.splitlines()
    assert [line.split()[0] for line in lines] == ["ok"] * 5
    assert "An operator leads: " in lines[-1]


def test_what_is_missing_is_named(stage: Stage, control_plane: ControlPlane) -> None:
    kubeconfig = account(stage, control_plane, without="delete pods")
    code, told = check(kubeconfig, stage.namespace)
    assert code == 1
    assert f"needed in namespace {stage.namespace}: " in told
    assert "missing: delete pods\n" in told
    assert "No operator leads: the Lease" in told


def test_no_way_to_an_api_server_is_a_sentence(stage: Stage, tmp_path: Path) -> None:
    nowhere = tmp_path / "kubeconfig"
    nowhere.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")
    code, told = check(nowhere, stage.namespace)
    assert code == 1
    assert "No way to the API server is known" in told
