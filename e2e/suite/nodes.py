"""The nodes under a job's pods: where each pod is, how a person empties a node, and how one is lost at once."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Iterable
from typing import Any

from e2e.cluster.kubectl import Kubectl

DRAIN_S, TAKEN_S = 180, 60.0
DOCKER = "STREAMJOB_E2E_DOCKER"
"""Names the docker command that knows the nodes as containers of their names, as those of kind are."""


class Nodes:
    """The cluster's nodes. What is cordoned or killed here, `restore` gives back."""

    def __init__(self, kubectl: Kubectl) -> None:
        self._kubectl = kubectl
        self._cordoned: set[str] = set()
        self._killed: set[str] = set()

    def usable(self) -> tuple[str, ...]:
        """Names of nodes that are Ready and take pods."""
        items = self._kubectl.list("nodes")
        return tuple(one["metadata"]["name"] for one in items if _is_ready(one) and not one["spec"].get("taints"))

    def require(self, count: int) -> None:
        """Until so many take pods: a node that has just become Ready has its taint for a moment longer."""
        until_s = time.monotonic() + TAKEN_S
        while len(found := self.usable()) < count:
            assert time.monotonic() < until_s, f"{count} nodes are needed, pods go to: {', '.join(found)}"
            time.sleep(0.5)

    def of(self, kubectl: Kubectl, pods: Iterable[str]) -> dict[str, str]:
        """The node of each of these pods that has one."""
        items = {one["metadata"]["name"]: one["spec"].get("nodeName") for one in kubectl.list("pods")}
        return {name: items[name] for name in pods if items.get(name)}

    def drain(self, node: str, job: str) -> None:
        """Cordon a node and evict a job's pods. What else is there stays: the suite's Prometheus is a bare pod."""
        self._cordoned.add(node)
        arguments = ("--ignore-daemonsets", "--delete-emptydir-data", f"--pod-selector=streamjob.dev/job={job}")
        self._kubectl("drain", node, *arguments, f"--timeout={DRAIN_S}s", timeout_s=DRAIN_S + 20.0)

    def can_be_killed(self) -> bool:
        """Whether they are containers that a docker command of this machine knows."""
        return DOCKER in os.environ

    def kill(self, node: str) -> None:
        """End it at once with everything in it, as a machine that loses its power."""
        self._killed.add(node)
        _docker("kill", node)

    def restore(self) -> None:
        """Start what was killed, and let every node take pods again."""
        for node in sorted(self._killed):
            _docker("start", node)
        self._killed.clear()
        for node in sorted(self._cordoned):
            self._kubectl("uncordon", node)
        self._cordoned.clear()


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node["status"].get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _docker(*arguments: str) -> None:
    subprocess.run([*shlex.split(os.environ[DOCKER]), *arguments], capture_output=True, check=True)
