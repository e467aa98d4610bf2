"""`python -m e2e.kind start|load|status|shell|stop`: a cluster of kind, on the Docker engine that answers or on ours.

`start` waits until its nodes are Ready; `stop` takes it away, and ends the engine if it is ours.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Callable

from e2e.cluster import images, kubectl
from e2e.kind import cluster, engine


def main() -> None:
    """The command line."""
    commands: dict[str, Callable[[], None]] = {
        "start": cluster.start,
        "load": load_all,
        "status": status,
        "shell": shell,
        "stop": cluster.stop,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=commands)
    commands[parser.parse_args().command]()


def load_all() -> None:
    """Make all images of the suite and give them to the nodes."""
    cluster.load(images.operator(), images.agent(), images.spark(), images.prometheus())


def status() -> None:
    """Show its nodes and pods."""
    command = [kubectl.program(), f"--kubeconfig={cluster.kubeconfig()}", "get", "nodes,pods", "--all-namespaces"]
    subprocess.run([*cluster.enter(), *command, "--output=wide"], check=False)


def shell() -> None:
    """A shell that reaches the cluster, KUBECONFIG set."""
    found = engine.find()
    os.environ.update({**found.environment, "KUBECONFIG": str(cluster.kubeconfig())})
    command = [*found.enter, os.environ.get("SHELL", "/bin/bash")]
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
