"""What the operator's process holds after jobs and namespaces came and went, on a real API server."""

from __future__ import annotations

import json
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from kube_jobs import stream_job
from kubectl import Kubectl, eventually, program
from operator_process import OperatorProcess
from stage import Stage, condition

ROUNDS = 3
KEEPERS = "streamjob_operator.kube.job.keeper.Keeper"
STORED, GONE = (f"streamjob_operator.kube.watched.store.Store.{name}" for name in ("_kept", "_least"))
BOUNDED = (
    "streamjob_operator.places.Places._last",  # namespaces that are gone, up to a number of them (test_gone.py)
    "streamjob_operator.kube.process.telemetry.Telemetry._api_requests",  # verbs, kinds and answers, no names
)
"""What may grow for a while, by itself."""


def application_job(name: str) -> dict[str, Any]:
    job = stream_job(name)
    del job["spec"]["applicationRef"]
    job["spec"]["application"] = {"image": "registry.example/paper:1", "mainFile": "local:///opt/app/job.py"}
    return job


def churn(kubeconfig: Path, namespace: str) -> None:
    """Three jobs come, cycle, are edited, lose a driver, and go: one by itself, all with their namespace."""
    kubectl = Kubectl(program(), kubeconfig, namespace)
    with ExitStack() as stack:
        stage = Stage(kubectl, kubeconfig, namespace, stack)
        stage.kubectl.apply(application_job("owned"))
        for name in ("edited", "bereft"):
            stage.job(name=name)
        for name in ("edited", "bereft"):
            stage.until(lambda one: one.get("lastCycle"), name=name)
        stage.patch({"balancing": {"maxLoadDistance": 7}}, name="edited")
        kubectl("delete", "pod", "bereft-driver", "--wait=false")
        stage.until(lambda one: one.get("observedGeneration") == 2, name="edited")
        stage.until(lambda one: condition(one, "Ready").startswith("False/"), name="bereft")
        kubectl("delete", "streamjob", "edited", "--wait=false")
    kubectl("delete", "namespace", namespace, "--wait=false")
    eventually(lambda: not kubectl.get("streamjobs")["items"], timeout_s=60.0)


def held(operator: OperatorProcess, told: Path) -> dict[str, int]:
    """Once nobody is looked after any more, and a list has told that what was deleted need not be remembered."""

    def look() -> dict[str, int] | None:
        told.unlink(missing_ok=True)
        operator.process.send_signal(signal.SIGUSR1)  # type: ignore[union-attr]
        eventually(told.exists)
        found: dict[str, int] = json.loads(told.read_text(encoding="utf-8"))
        return found if KEEPERS not in found and not found[GONE] else None

    found: dict[str, int] = eventually(look, timeout_s=30.0, every_s=1.5)
    return found


def test_nothing_grows_with_the_jobs_and_namespaces_that_were(
    kubectl: Kubectl, api_server: Path, namespace: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(api_server))  # for the agents, which run in this process
    monkeypatch.setenv("HELD", str(tmp_path / "held.json"))
    spaces = [f"{namespace}-{one}" for one in range(ROUNDS)]
    for one in spaces:
        kubectl("create", "namespace", one)
    options = (*(f"--namespace={one}" for one in spaces), "--planners=1")
    with OperatorProcess(api_server, namespace, *options) as operator:
        operator.wait_for("This operator leads.")
        after = []
        for one in spaces:
            churn(api_server, one)
            after.append(held(operator, tmp_path / "held.json"))
    grown = {
        what: sizes
        for what in after[-1]
        if (sizes := [one.get(what, 0) for one in after]) == sorted(set(sizes)) and not what.startswith(BOUNDED)
    }
    assert grown == {}
    assert after[-1][STORED] == 0
