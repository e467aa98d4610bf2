"""One namespace with a StreamJob, its driver and an operator, as the tests of the operator use them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kube_jobs import JOB, SKEWED, driver_pod, stream_job
from kubectl import Kubectl, eventually
from operator_process import OperatorProcess
from paper_spark import PaperDriver, PaperSpark

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import STREAM_JOBS


def condition(status: dict[str, Any], kind: str) -> str:
    """`True/Reason` of a condition, or nothing."""
    found = [one for one in status.get("conditions", ()) if one["type"] == kind]
    return f"{found[0]['status']}/{found[0]['reason']}" if found else ""


def balanced(status: dict[str, Any]) -> bool:
    return condition(status, "Balanced") == "True/Balanced"


def last_reason(status: dict[str, Any]) -> str:
    return str(status.get("lastCycle", {}).get("reason", ""))


class Stage:
    """Everything that is started here ends with `stack`."""

    def __init__(self, kubectl: Kubectl, kubeconfig: Path, namespace: str, stack: ExitStack) -> None:
        self.kubectl = kubectl
        self.kubeconfig = kubeconfig
        self.namespace = namespace
        self.stack = stack
        self._api = KubeApi.from_kubeconfig(kubeconfig)

    def operator(self, *options: str) -> OperatorProcess:
        """Start an operator, with one planning process: there is one job."""
        return self.stack.enter_context(OperatorProcess(self.kubeconfig, self.namespace, "--planners=1", *options))

    def job(self, spark: PaperSpark | None = None, name: str = JOB, **changes: dict[str, Any]) -> PaperSpark:
        """Apply the StreamJob and the driver's pod, and start the driver."""
        spark = spark or PaperSpark(SKEWED, executors=2)
        self.kubectl.apply(driver_pod(name), stream_job(name, **changes))
        self.place(f"{name}-driver")
        self.stack.enter_context(PaperDriver(spark, self.namespace, name))
        return spark

    def place(self, pod: str) -> None:
        """What a kubelet would tell: the driver's pod is on this machine, where its agent listens."""
        status = json.dumps({"status": {"podIP": "127.0.0.1"}})
        self.kubectl("patch", "pod", pod, "--subresource=status", "--type=merge", "-p", status)

    def patch(self, spec: dict[str, Any], name: str = JOB) -> None:
        """Merge into the spec, as a user."""
        self.kubectl("patch", "streamjob", name, "--type=merge", "-p", json.dumps({"spec": spec}))

    def annotate(self, *annotations: str) -> None:
        self.kubectl("annotate", "--overwrite", "streamjob", JOB, *annotations)

    def plugin(self, *arguments: str) -> str:
        """Output of `kubectl streamjob`; fails with what it says when it fails."""
        command = [sys.executable, "-m", "streamjob_operator.kube.kubectl.cli", arguments[0]]
        options = [f"--kubeconfig={self.kubeconfig}", "--namespace", self.namespace]
        done = subprocess.run(
            [*command, *options, *arguments[1:]], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def status(self, name: str = JOB) -> dict[str, Any]:
        # Tests look three times a second: a kubectl each time takes a third of a core from what they look at.
        document = self._api.get(STREAM_JOBS, name, self.namespace)
        assert document is not None, f"there is no StreamJob {name}"
        found: dict[str, Any] = document.get("status", {})
        return found

    def statuses(self) -> list[dict[str, Any]]:
        """Of all jobs at one moment, by their names."""
        found = sorted(self._api.list(STREAM_JOBS, self.namespace), key=lambda one: str(one["metadata"]["name"]))
        return [one.get("status", {}) for one in found]

    def generation(self) -> int:
        """Of the newest assignment."""
        return int(self.kubectl.get("partitionmap", JOB)["spec"].get("generation") or 0)

    def until(self, check: Callable[[dict[str, Any]], Any], timeout_s: float = 90.0, name: str = JOB) -> dict[str, Any]:
        """The status once `check` holds."""
        seen: dict[str, Any] = {}

        def look() -> bool:
            seen.clear()
            seen.update(self.status(name))
            return bool(check(seen))

        try:
            eventually(look, timeout_s, every_s=0.3)
        except AssertionError as error:
            raise AssertionError(f"{error}; status: {seen}") from error
        return seen

    def cycles(self, count: int) -> dict[str, Any]:
        """The status after so many cycles more."""
        for _ in range(count):
            before = self.status().get("lastCycle", {}).get("id")
            status = self.until(lambda one, before=before: one.get("lastCycle", {}).get("id") != before)
        return status

    def scale(self) -> dict[str, Any]:
        """What a HorizontalPodAutoscaler reads."""
        path = f"/apis/streamjob.dev/v1alpha1/namespaces/{self.namespace}/streamjobs/{JOB}/scale"
        found: dict[str, Any] = json.loads(self.kubectl("get", "--raw", path))
        return found

    def events(self) -> dict[str, int]:
        """How often each reason was told about the StreamJob."""
        found: dict[str, int] = {}
        for one in self.kubectl.get("events.v1.events.k8s.io")["items"]:
            if one["regarding"]["kind"] == "StreamJob":
                count = (one.get("series") or {}).get("count", 1)
                found[one["reason"]] = found.get(one["reason"], 0) + count
        return found


@pytest.fixture
def stage(kubectl: Kubectl, api_server: Path, namespace: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A Stage in the test's own namespace."""
    monkeypatch.setenv("KUBECONFIG", str(api_server))  # for the agents, which run in this process
    with ExitStack() as stack:
        yield Stage(kubectl, api_server, namespace, stack)
