"""The control plane that the other tests stand on: what a fake would not do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from e2e.cluster.controlplane import ControlPlane
from kubectl import Kubectl, eventually, program

ROOT = Path(__file__).resolve().parents[2]
STARTS_AND_WAITS = """
import signal
from e2e.cluster import binary
from e2e.cluster.controlplane import ControlPlane
with ControlPlane(binary.get()) as plane:
    print(plane.etcd.pid, plane.api_server.pid, plane.controller_manager.pid, flush=True)
    signal.pause()
"""


def test_deleting_an_owner_deletes_what_it_owns(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "owner")
    owner = kubectl.get("configmap", "owner")["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}
    owned = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owned", "ownerReferences": [reference]}}
    kubectl.apply(owned)
    kubectl("delete", "configmap", "owner")
    eventually(lambda: kubectl.run("get", "configmap", "owned").returncode != 0)


def test_a_service_account_may_do_what_its_role_says_and_nothing_else(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    kubectl("create", "serviceaccount", "reader")
    kubectl("create", "role", "read", "--verb=get,list", "--resource=configmaps")
    kubectl("create", "rolebinding", "read", "--role=read", f"--serviceaccount={namespace}:reader")
    token = kubectl("create", "token", "reader").strip()
    reader = Kubectl(program(), control_plane.kubeconfig_for("reader", token), namespace)
    eventually(lambda: reader.run("get", "configmaps").returncode == 0)
    refused = reader.run("delete", "configmap", "--all")
    assert "forbidden" in reader.run("get", "pods").stderr
    assert "forbidden" in refused.stderr


def test_it_is_gone_when_the_process_that_started_it_is_killed(control_plane: ControlPlane) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTS_AND_WAITS], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert starter.stdout is not None
    with starter.stdout as output:
        pids = [int(pid) for pid in output.readline().split()]
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    assert len(pids) == 3
    eventually(lambda: not any(_runs(pid) for pid in pids))


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
