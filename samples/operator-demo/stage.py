"""Everything that runs in the demo: control plane, Prometheus, operator, driver; started in order and always ended."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

from e2e.cluster import binary
from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.kubectl import ESTABLISHED, Kubectl
from e2e.cluster.process import Process, free_ports
from e2e.cluster.prometheus import HOW_TO_GET, Prometheus, get, static_target

from streamjob_operator.spec import parse_job
from streamjob_operator.standalone.launcher import Driver

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
OUT = pathlib.Path("out/operator-demo")
NAME = "parcels"
STOP_S = 20.0


class Stage:
    """What runs. `kubectl` is an administrator's."""

    def __init__(self, plane: ControlPlane, prometheus: Prometheus, agent_port: int) -> None:
        self.kubectl = Kubectl(plane.kubeconfig)
        self._plane = plane
        self._prometheus = prometheus
        streamjob = str(pathlib.Path(sys.executable).with_name("streamjob"))
        listen = ("--listen=127.0.0.1", "--port=0", "--lease-namespace=default", "--log-format=text", "--planners=1")
        command = [streamjob, "operator", f"--kubeconfig={plane.kubeconfig}", "--namespace=default", *listen]
        self.operator = Process("operator", command, OUT / "operator.log")
        self.driver = _driver(plane, agent_port)

    def apply_job(self) -> str:
        """`kubectl apply` of the job and of the pod that stands for its driver; what kubectl said."""
        text = (HERE / "streamjob.yaml").read_text(encoding="utf-8")
        address = text.replace("http://127.0.0.1:9090", self._prometheus.url)
        said = self.kubectl("apply", "-f", str(HERE / "driver.yaml"))
        return said + self.kubectl("apply", "-f", "-", text=address)

    def watch(self) -> subprocess.Popen[str]:
        """`kubectl get sj -w`, whose lines are shown as they come."""
        command = [*self.kubectl.command, "get", "streamjob", NAME, "--watch"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)

    def event_reasons(self) -> set[str]:
        """Reasons of the events about the job."""
        found = self.kubectl.get("events.v1.events.k8s.io")["items"]
        return {one["reason"] for one in found if one["regarding"]["kind"] == "StreamJob"}

    def stop_operator(self) -> int | None:
        """End the operator in order; its exit code."""
        return self.operator.stop(STOP_S)


@contextlib.contextmanager
def stage() -> Iterator[Stage]:
    """Control plane with our CRDs and a Prometheus that scrapes the agent to come; ended with all that was started."""
    program = get()
    if program is None:
        raise RuntimeError(HOW_TO_GET)
    port = free_ports(1)[0]
    target = static_target(f"127.0.0.1:{port}", namespace="default", pod=f"{NAME}-driver")
    with (
        ControlPlane(binary.get()) as plane,
        Prometheus(OUT / "prometheus", program, [target], scrape_interval="1s") as prometheus,
    ):
        made = Stage(plane, prometheus, port)
        files = [f"--filename={file}" for file in sorted((ROOT / "crds").glob("*.yaml"))]
        made.kubectl("apply", "--server-side", *files)
        made.kubectl("wait", ESTABLISHED, "--timeout=30s", "crd", "--all")
        made.kubectl.wait_for_account()
        try:
            yield made
        finally:
            made.driver.stop()
            made.operator.stop()


def _driver(plane: ControlPlane, port: int) -> Driver:
    """The unchanged job of samples/demo under the agent, which is told its PartitionMap as in a pod."""
    os.environ.update(
        {
            "KUBECONFIG": str(plane.kubeconfig),
            "STREAMJOB_AGENT_PARTITION_MAP": f"default/{NAME}",
            "STREAMJOB_AGENT_PORT": str(port),
            "STREAMJOB_AGENT_TRAFFIC_MIN_BYTES": "16",  # the demo's batches are that small
        }
    )
    text = (ROOT / "samples" / "demo" / "job.yaml").read_text(encoding="utf-8").replace("out/demo", str(OUT))
    application = parse_job(text).spec.application
    if application is None:
        raise ValueError("samples/demo/job.yaml starts nothing")
    return Driver(application, OUT)
