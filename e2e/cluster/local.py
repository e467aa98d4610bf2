"""A whole cluster on this machine: control plane and a node that runs pods, in a network namespace of their own.

`python -m e2e.cluster.local start|load|status|stop|logs|shell`: one server process holds everything and ends it,
even when it is killed; `start` waits until the node is Ready. `join` adds a second node while the cluster runs, `part`
takes it away (drain it first, or see what a lost node does). Needs root and some of Debian's packages.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from e2e.cluster import binary, further, helm, images, kubectl, leftovers, network, node, requirements, runtime
from e2e.cluster.controlplane import ControlPlane, Place
from e2e.cluster.image import Image
from e2e.cluster.network import Site
from e2e.cluster.node_config import Setting
from e2e.cluster.process import DidNotStart
from e2e.cluster.runtime import Runtime
from e2e.cluster.server import Server

FOLDER = Path("/var/tmp/streamjob-cluster")
SERVER = Server(role="serve", folder=FOLDER)
READY_S, JOINED_S = 180.0, 480.0
"""The second node imports every image of the first before it is Ready: two minutes when none has been there before."""


def main() -> None:
    """The command line."""
    commands: dict[str, Callable[[], None]] = {
        "start": start,
        "load": load_all,
        "join": join,
        "part": part,
        "status": status,
        "logs": logs,
        "shell": shell,
        "stop": stop,
        SERVER.role: serve,
        further.server(FOLDER).role: lambda: further.serve(FOLDER),
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=commands)
    commands[parser.parse_args().command]()


def kubeconfig() -> Path:
    """An administrator's kubeconfig while the cluster runs; it works inside the cluster's network only."""
    return FOLDER / "kubeconfig"


def enter() -> tuple[str, ...]:
    """Prefix of commands that are to reach the cluster."""
    return _first().enter


def refusal() -> str | None:
    """Why none can run here; None when one can."""
    return requirements.refusal()


def environment() -> dict[str, str]:
    """What the suite is told beside images: nothing."""
    return {}


def start() -> None:
    """Start a cluster unless one runs, and wait until its node is Ready."""
    refused = refusal()
    if refused:
        sys.exit(refused)
    kube = binary.get()
    images.pause()
    if SERVER.pid is None:
        _clear()
        network.make(_first())
        SERVER.start(enter(), {binary.GIVEN: str(kube)})
    _wait_ready(_first().name, READY_S)
    print(f"The cluster runs. A shell with KUBECONFIG set:  {sys.executable} -m e2e.cluster.local shell")


def serve() -> None:
    """Hold the cluster until SIGTERM; runs inside the first node's network."""
    SERVER.announce()
    with ControlPlane(binary.get(), scheduler=True, place=_place()) as plane:
        shutil.copy(plane.kubeconfig, kubeconfig())
        told = {"folder": str(plane.folder), "server": plane.server}
        (FOLDER / "plane.json").write_text(json.dumps(told), encoding="utf-8")
        setting = Setting(
            site=_first(),
            folder=FOLDER / _first().name,
            store=binary.cache() / "containerd",
            pause=images.pause().tag,
            kube=plane.folder,
            server=plane.server,
            authority=plane.authority,
        )
        worker = node.Node(setting)
        try:
            worker.start(lambda mine: mine.load(images.pause().tag, images.pause().archive))
            while True:
                signal.pause()
        finally:
            worker.stop()


def join() -> None:
    """Add the second node with the images of the first, and wait until it is Ready; raises DidNotStart."""
    if SERVER.pid is None:
        sys.exit("No cluster runs.")
    further.join(FOLDER)
    _wait_ready(network.wanted().second.name, JOINED_S)


def part() -> None:
    """Take the second node away."""
    further.part(FOLDER)
    _kubectl("delete", "node", network.wanted().second.name, "--ignore-not-found", quiet=True)


def load(*wanted: Image) -> None:
    """Import images into each node that does not have them; raises RuntimeError."""
    first, second = _first(), network.wanted().second
    for site in (first, second) if further.server(FOLDER).pid is not None else (first,):
        for image in wanted:
            Runtime(runtime.socket(FOLDER / site.name)).load(image.tag, image.archive)


def load_all() -> None:
    """Make all images of the suite and import them, and say how to install the chart with them."""
    operator, agent = images.operator(), images.agent()
    load(operator, agent, images.spark(), images.prometheus())
    repository, _, tag = operator.tag.rpartition(":")
    print(f"The node has {agent.tag}, an image for PySpark jobs, and the operator's. In the cluster's shell:")
    print(f"  {helm.get()} install streamjob charts/streamjob --namespace streamjob-system --create-namespace \\")
    print(f"    --set image.repository={repository} --set image.tag={tag} --set image.pullPolicy=Never")


def status() -> None:
    """Say whether a cluster runs, and show its nodes and pods."""
    if SERVER.pid is None:
        sys.exit("No cluster runs.")
    _kubectl("get", "nodes,pods", "--all-namespaces", "--output=wide")


def stop() -> None:
    """End the cluster and everything in it."""
    further.part(FOLDER)
    SERVER.stop()
    _clear()
    network.remove(_first())
    print("The cluster is gone.")


def logs() -> None:
    """Print where the logs are and the end of each."""
    for log in sorted(FOLDER.rglob("*.log")):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        print(f"== {log}", *lines[-15:], sep="\n")


def shell() -> None:
    """A shell inside the cluster's network, KUBECONFIG set."""
    os.environ["KUBECONFIG"] = str(kubeconfig())
    command = [*enter(), os.environ.get("SHELL", "/bin/bash")]
    os.execvp(command[0], command)


def _first() -> Site:
    return network.wanted().first


def _place() -> Place:
    known = network.wanted()
    return Place(host=known.first.address, services=known.services, api_service=known.api_service)


def _wait_ready(name: str, timeout_s: float) -> None:
    until_s = time.monotonic() + timeout_s
    wanted = ("wait", "--for=condition=Ready", f"node/{name}", "--timeout=2s")
    while time.monotonic() < until_s:
        if kubeconfig().exists() and _kubectl(*wanted, quiet=True) == 0:
            return
        time.sleep(0.3)
    logs()
    raise DidNotStart(f"The node {name} was not Ready within {timeout_s:.0f} s.")


def _kubectl(*arguments: str, quiet: bool = False) -> int:
    command = [*enter(), kubectl.program(), f"--kubeconfig={kubeconfig()}", *arguments]
    return subprocess.run(command, capture_output=quiet, check=False).returncode


def _clear() -> None:
    """Remove what a cluster that crashed left behind."""
    further.part(FOLDER)
    leftovers.end(FOLDER)
    leftovers.forget_pod_networks()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)


if __name__ == "__main__":
    main()
