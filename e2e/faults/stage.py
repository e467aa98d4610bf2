"""One job under the operator's care: a simulated driver that a real Prometheus scrapes, on a real API server."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from e2e.cluster.kubectl import Kubectl
from e2e.cluster.process import Process
from e2e.simulated.pods import executor_pod, idle_pod

ROOT = Path(__file__).resolve().parents[2]
WORLD = Path(__file__).parent / "world.yaml"
MORTAL = ROOT / "tests" / "kube" / "launch_operator.py"
"""The operator with a wish to die at a step that the environment names."""
JOB, POD = "shop", "shop-driver"
MIN, MAX, NEEDED = 2, 4, 2
"""Bounds on the number of executors, and how many the world's load needs."""


class Stage:
    """A namespace of its own with a StreamJob and its driver; operators come and go. A context manager."""

    def __init__(self, folder: Path, kubeconfig: Path, namespace: str, prometheus: str, port: int) -> None:
        folder.mkdir(parents=True)
        self.kubeconfig = kubeconfig
        self.namespace = namespace
        self.prometheus = prometheus
        self.kubectl = Kubectl(kubeconfig, namespace)
        self._folder = folder
        self._port = port
        self._journal = folder / "journal.jsonl"
        self._journal.touch()
        self._processes: list[Process] = []
        self._drivers = 0

    def __enter__(self) -> Stage:
        self.kubectl("create", "namespace", self.namespace)
        self.kubectl.wait_for_account()
        self.kubectl.apply(idle_pod(POD, {"app": POD}, "driver"), stream_job(self.prometheus))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
        self.kubectl("delete", "namespace", self.namespace, "--wait=false")

    def driver(self) -> Process:
        """Start a driver; each one is another Spark application."""
        self._drivers += 1
        command = [sys.executable, "-m", "e2e.simulated.driver", str(WORLD), f"--journal={self._journal}"]
        environ = {
            "PYTHONPATH": str(ROOT),
            "KUBECONFIG": str(self.kubeconfig),
            "STREAMJOB_AGENT_PARTITION_MAP": f"{self.namespace}/{JOB}",
            "STREAMJOB_AGENT_PORT": str(self._port),
            "STREAMJOB_AGENT_POLL_S": "0.1",
        }
        return self._start("driver", [*command, f"--application={self.namespace}-{self._drivers}"], environ)

    def pods(self) -> None:
        """Pods of the newest driver's executors, as Spark labels them; no node ever runs them."""
        application_id = f"{self.namespace}-{self._drivers}"
        self.kubectl.apply(*(executor_pod(JOB, application_id, str(one)) for one in range(MAX)))

    def marked_pods(self) -> int:
        """How many pods are marked for removal."""
        return len(self.kubectl.get("pods", "--selector=streamjob.dev/marked-for-removal=true").get("items", ()))

    def operator(self, kubeconfig: Path | None = None, **environ: str) -> Process:
        """Start an operator for this namespace alone."""
        command = [
            *(sys.executable, str(MORTAL), "operator", f"--kubeconfig={kubeconfig or self.kubeconfig}"),
            *(f"--namespace={self.namespace}", f"--lease-namespace={self.namespace}", "--listen=127.0.0.1", "--port=0"),
            "--planners=1",
        ]
        return self._start(f"operator-{len(self._processes)}", command, environ)

    def _start(self, name: str, command: list[str], environ: dict[str, str]) -> Process:
        process = Process(name, command, self._folder / f"{name}.log", {**os.environ, **environ})
        process.start()
        self._processes.append(process)
        return process

    def job(self) -> dict[str, Any]:
        """The StreamJob as it is now."""
        return self.kubectl.get("streamjob", JOB)

    def status(self) -> dict[str, Any]:
        """Its status."""
        found: dict[str, Any] = self.job().get("status") or {}
        return found

    def wait(self, what: str, check: Callable[[dict[str, Any]], bool], timeout_s: float = 90.0) -> dict[str, Any]:
        """The status once it fits; raises TimeoutError."""
        status: dict[str, Any] = {}

        def look() -> bool:
            status.clear()
            status.update(self.status())
            return check(status)

        try:
            until(what, look, timeout_s)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; {shown(status)}") from error
        return status

    def lease_holder(self) -> str:
        """Who leads."""
        found = self.kubectl.get("lease", "streamjob-operator")
        return str((found.get("spec") or {}).get("holderIdentity", ""))

    def events(self) -> Iterator[dict[str, Any]]:
        """What the driver was asked to do with its executors."""
        for line in self._journal.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)

    def agent(self) -> dict[str, Any]:
        """PartitionMap: its spec and what the agent says."""
        return self.kubectl.get("partitionmap", JOB)


def until(what: str, check: Callable[[], bool], timeout_s: float = 90.0) -> None:
    """Wait until it holds; raises TimeoutError."""
    deadline_s = time.monotonic() + timeout_s
    while not check():
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"{what}: not within {timeout_s:.0f} s")
        time.sleep(0.25)


def stop(process: Process, how: signal.Signals) -> None:
    """Send a signal to a process that runs."""
    if process.pid is not None:
        os.kill(process.pid, how)


def condition(status: dict[str, Any], kind: str) -> dict[str, str]:
    """A condition, empty when it is not there."""
    found: list[dict[str, str]] = [one for one in status.get("conditions", ()) if one["type"] == kind]
    return found[0] if found else {}


def draining(status: dict[str, Any]) -> bool:
    """Whether executors are being drained, and still hold key groups."""
    marked = (status.get("executors") or {}).get("markedForRemoval") or []
    return any(one.get("groupsLeft", 0) > 0 for one in marked)


def settled(status: dict[str, Any]) -> bool:
    """Whether the job is where it should be: balanced, on as many executors as it needs, nothing under way."""
    executors = status.get("executors") or {}
    return (
        condition(status, "Balanced").get("status") == "True"
        and executors.get("ready") == NEEDED
        and not executors.get("markedForRemoval")
        and not (status.get("migrations") or {}).get("pending")
        and status.get("phase") == "Running"
    )


def shown(status: dict[str, Any]) -> str:
    """A status in one line, for a person who looks for what went wrong."""
    conditions = ", ".join(f"{one['type']}={one['status']}/{one['reason']}" for one in status.get("conditions", ()))
    return f"phase {status.get('phase')}, executors {status.get('executors')}, {conditions}"


def stream_job(prometheus: str) -> dict[str, Any]:
    """The job: short periods, and a budget so small that a drain takes several plans."""
    return {
        "apiVersion": "streamjob.dev/v1alpha1",
        "kind": "StreamJob",
        "metadata": {"name": JOB},
        "spec": {
            "applicationRef": {"kind": "Pod", "apiVersion": "v1", "matchLabels": {"app": POD}},
            "executors": {"min": MIN, "max": MAX},
            "balancing": {
                "mode": "Auto",
                "planner": "greedy",
                "statisticsPeriod": "2s",
                "planDeadline": "300ms",
                "migrationBudget": {"maxCost": "1m", "maxMigrations": 4},
            },
            "scaling": {"mode": "Auto", "stabilization": {"up": "0s", "down": "0s"}},
            "metrics": {"prometheus": {"url": prometheus}},
        },
    }
