"""`streamjob operator --self-check` on a real API server: with all rights and a leader, and without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from e2e.cluster.controlplane import ControlPlane
from kube_jobs import JOB, stream_job
from kubectl import eventually
from operator_process import OperatorProcess
from stage import Stage, balanced

from streamjob_operator.kube.api import rights
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.reading import read_job
from streamjob_operator.kube.driver import DriverMemory, JobFacts, reconcile_driver
from streamjob_operator.kube.names import KubeReason


def check(kubeconfig: Path, namespace: str) -> tuple[int, str]:
    options = [f"--kubeconfig={kubeconfig}", f"--namespace={namespace}", f"--lease-namespace={namespace}"]
    command = [sys.executable, "-c", "from streamjob_cli.main import main; main()", "operator", "--self-check"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def role(without: str) -> dict[str, Any]:
    rules = [
        {"apiGroups": [one.kind.group], "resources": [one.resource], "verbs": [verb]}
        | ({} if one.name is None else {"resourceNames": [one.name]})
        for one in (*rights.WHERE_JOBS_ARE, *rights.where_the_lease_is("streamjob-operator"))
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


def test_the_rights_suffice_for_an_operator_and_it_is_refused_nothing(
    stage: Stage, control_plane: ControlPlane
) -> None:
    kubeconfig = account(stage, control_plane, without="")
    operator = stage.stack.enter_context(OperatorProcess(kubeconfig, stage.namespace, "--planners=1"))
    stage.job()
    stage.until(balanced)
    stage.kubectl("delete", "streamjob", JOB, "--timeout=60s")
    assert operator.end() == 0
    assert "forbidden" not in operator.log


def orders(stage: Stage, kubeconfig: Path) -> tuple[KubeApi, JobFacts]:
    """A job with a driver of its own, and the way to the API server of that account."""
    application = {"image": "registry.example/orders:1", "mainFile": "local:///opt/app/job.py"}
    job = {**stream_job("orders"), "spec": {"application": application, "executors": {"min": 1, "max": 2}}}
    stage.kubectl.apply(job)
    reading = read_job(stage.kubectl.get("streamjob", "orders"))
    assert reading.job is not None
    assert reading.job.spec.application is not None
    return KubeApi.from_kubeconfig(kubeconfig), JobFacts(
        name="orders",
        namespace=stage.namespace,
        generation=1,
        owner=reading.document,
        spec=reading.job.spec,
        application=reading.job.spec.application,
        executors=1,
    )


def test_the_rights_suffice_to_make_a_driver_with_rights_of_its_own(stage: Stage, control_plane: ControlPlane) -> None:
    api, job = orders(stage, account(stage, control_plane, without=""))
    assert reconcile_driver(api, job, DriverMemory(), 0.0).reason is KubeReason.DRIVER_STARTING
    assert stage.kubectl.get("pod", "orders-driver")


def test_a_right_that_cannot_be_handed_on_is_told(stage: Stage, control_plane: ControlPlane) -> None:
    api, job = orders(stage, account(stage, control_plane, without="deletecollection pods"))
    state = reconcile_driver(api, job, DriverMemory(), 0.0)
    assert state.stalled
    assert "deletecollection" in state.sentence


def test_no_way_to_an_api_server_is_a_sentence(stage: Stage, tmp_path: Path) -> None:
    nowhere = tmp_path / "kubeconfig"
    nowhere.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")
    code, told = check(nowhere, stage.namespace)
    assert code == 1
    assert "No way to the API server is known" in told
