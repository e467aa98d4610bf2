"""A whole cluster on this machine: control plane and a node that runs pods, in a network namespace of their own.

`python -m e2e.cluster.local start|load|status|stop|logs|shell`: one server process holds everything and ends it,
even when it is killed; `start` waits until the node is Ready. Needs root and some of Debian's packages.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from e2e.cluster import binary, helm, images, network, node, requirements
from e2e.cluster.controlplane import ControlPlane, Place
from e2e.cluster.network import Network
from e2e.cluster.process import DidNotStart
from e2e.cluster.runtime import Runtime

NAMESPACE = "streamjob-e2e"
FOLDER = Path("/var/tmp/streamjob-cluster")
READY_S = 180.0
PLACE = Place(host=network.NODE_ADDRESS, services=network.SERVICE_CIDR, api_service=network.API_SERVICE)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("start", "status", "stop", "load", "logs", "shell", "serve"))
    command = parser.parse_args().command
    {"start": start, "status": status, "stop": stop, "logs": logs, "shell": shell, "serve": serve, "load": load_all}[
        command
    ]()


def kubeconfig() -> Path:
    """An administrator's kubeconfig while the cluster runs; it works inside the cluster's network only."""
    return FOLDER / "kubeconfig"


def enter() -> tuple[str, ...]:
    """Prefix of commands that are to reach the cluster."""
    return Network(NAMESPACE).enter


def running() -> int | None:
    """The server's process id, None when no cluster runs."""
    try:
        pid = int((FOLDER / "pid").read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if b"e2e.cluster.local" in command else None


def start() -> None:
    """Start a cluster unless one runs, and wait until its node is Ready."""
    refusal = requirements.refusal()
    if refusal:
        sys.exit(refusal)
    kube = binary.get()
    images.pause()
    if running() is None:
        _clear()
        inside = Network(NAMESPACE)
        inside.make()
        with (FOLDER / "server.log").open("ab") as log:
            command = [*inside.enter, sys.executable, "-m", "e2e.cluster.local", "serve"]
            environment = {**os.environ, binary.GIVEN: str(kube)}
            subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment
            )
    _wait_ready()
    print(f"The cluster runs. A shell with KUBECONFIG set:  {sys.executable} -m e2e.cluster.local shell")


def serve() -> None:
    """Hold the cluster until SIGTERM; runs inside the network namespace."""
    (FOLDER / "pid").write_text(str(os.getpid()))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with ControlPlane(binary.get(), scheduler=True, place=PLACE) as plane:
        shutil.copy(plane.kubeconfig, kubeconfig())
        setting = node.Setting(
            folder=FOLDER / "node",
            store=binary.cache() / "containerd",
            pause=images.pause().tag,
            kube=plane.folder,
            server=plane.server,
            authority=plane.authority,
        )
        worker = node.Node(setting)
        try:
            worker.start()
            load(images.pause())
            while True:
                signal.pause()
        finally:
            worker.stop()


def load(*wanted: images.Image) -> None:
    """Import images into the node that it does not have; raises RuntimeError."""
    runtime = Runtime(node.socket(FOLDER / "node"))
    for image in wanted:
        runtime.load(image.tag, image.archive)


def load_all() -> None:
    """Make all images of the suite and import them, and say how to install the chart with them."""
    operator, agent = images.operator(), images.agent()
    load(operator, agent, images.spark(), images.prometheus())
    repository, _, tag = operator.tag.rpartition(":")
    print(f"The node has {agent.tag}, an image for PySpark jobs, and the operator's. In the cluster's shell:")
    print(f"  {helm.get()} install sj charts/streamjob --namespace streamjob-system --create-namespace \\")
    print(f"    --set image.repository={repository} --set image.tag={tag} --set image.pullPolicy=Never")


def status() -> None:
    """Say whether a cluster runs, and show its nodes and pods."""
    if running() is None:
        sys.exit("No cluster runs.")
    _kubectl("get", "nodes,pods", "--all-namespaces", "--output=wide")


def stop() -> None:
    """End the cluster and everything in it."""
    pid = running()
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + 60.0
        while running() is not None and time.monotonic() < deadline:
            time.sleep(0.1)
        if running() is not None:
            os.kill(pid, signal.SIGKILL)
    _clear()
    Network(NAMESPACE).remove()
    print("The cluster is gone.")


def logs() -> None:
    """Print where the logs are and the end of each."""
    for log in sorted(FOLDER.rglob("*.log")):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        print(f"== {log}", *lines[-15:], sep="\n")


def shell() -> None:
    """A shell inside the cluster's network, KUBECONFIG set."""
    os.environ["KUBECONFIG"] = str(kubeconfig())
    command = [*Network(NAMESPACE).enter, os.environ.get("SHELL", "/bin/bash")]
    os.execvp(command[0], command)


def _wait_ready() -> None:
    deadline = time.monotonic() + READY_S
    wanted = ("wait", "--for=condition=Ready", f"node/{node.NODE}", "--timeout=2s")
    while time.monotonic() < deadline:
        if kubeconfig().exists() and _kubectl(*wanted, quiet=True) == 0:
            return
        time.sleep(0.3)
    logs()
    raise DidNotStart(f"The node was not Ready within {READY_S:.0f} s.")


def _kubectl(*arguments: str, quiet: bool = False) -> int:
    command = [*Network(NAMESPACE).enter, "kubectl", f"--kubeconfig={kubeconfig()}", *arguments]
    return subprocess.run(command, capture_output=quiet, check=False).returncode


def _clear() -> None:
    """Remove what a cluster that crashed left behind."""
    node.end_leftovers(FOLDER)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)


if __name__ == "__main__":
    main()
