"""Which cluster the suite runs on: the one that it is given, or one of those that it can make."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from e2e.cluster import local, network, versions
from e2e.cluster.image import Image
from e2e.kind import cluster as kind


class Cluster(Protocol):
    """What the suite makes, uses and ends."""

    def refusal(self) -> str | None:
        """Why it cannot run here; None when it can."""

    def start(self) -> None:
        """Start it unless it runs, and wait until its nodes are Ready."""

    def load(self, *wanted: Image) -> None:
        """Give its nodes images."""

    def kubeconfig(self) -> Path:
        """An administrator's."""

    def enter(self) -> tuple[str, ...]:
        """Prefix of commands that are to reach it."""

    def environment(self) -> dict[str, str]:
        """What the cases are told beside that."""

    def stop(self) -> None:
        """End it."""


MADE: dict[str, Cluster] = {"local": local, "kind": kind}


def wanted(environment: Mapping[str, str]) -> Cluster | str | None:
    """The one that CLUSTER names, None where KUBECONFIG gives one; a sentence where there is no such cluster."""
    name = environment.get("CLUSTER")
    if name and name not in MADE:
        return f"CLUSTER is {name}: it may be {' or '.join(MADE)}."
    if name and "KUBECONFIG" in environment:
        return f"CLUSTER is {name}, and KUBECONFIG gives a cluster: set one of them."
    try:
        versions.wanted(environment)
        network.wanted(environment)
    except ValueError as error:
        return str(error)
    if network.ASKED in environment and ("KUBECONFIG" in environment or name == "kind"):
        return f"{network.ASKED} is {environment[network.ASKED]}: it is for CLUSTER=local."
    return None if "KUBECONFIG" in environment else MADE[name or "local"]
