"""A cluster of kind, as the suite and a person start and stop it; the local cluster has the same functions."""

from __future__ import annotations

import sys
from pathlib import Path

from e2e.cluster import versions
from e2e.cluster.image import Image
from e2e.kind import containers, engine, requirements


def refusal() -> str | None:
    """Why none can run here; None when one can."""
    return requirements.refusal()


def kubeconfig() -> Path:
    """An administrator's kubeconfig while the cluster runs."""
    return containers.KUBECONFIG


def enter() -> tuple[str, ...]:
    """Prefix of commands that are to reach the cluster."""
    return engine.find().enter


def environment() -> dict[str, str]:
    """What the suite is told beside images: how it can end a node as a lost machine ends."""
    host = engine.find().environment.get("DOCKER_HOST")
    return {"STREAMJOB_E2E_DOCKER": f"docker --host={host}" if host else "docker"}


def start() -> None:
    """Start the engine and the cluster unless they are there, and wait until its nodes are Ready."""
    refused = refusal()
    if refused:
        sys.exit(refused)
    found = engine.find()
    found.start()
    if not containers.is_there(found):
        containers.create(found)
    elif (running := containers.version(found)) != (minor := versions.wanted().minor):
        sys.exit(
            f"The cluster runs Kubernetes {running}, {minor} is wanted: end it by {sys.executable} -m e2e.kind stop"
        )
    print(f"The cluster runs. A shell with KUBECONFIG set:  {sys.executable} -m e2e.kind shell")


def load(*wanted: Image) -> None:
    """Give the nodes images; raises RuntimeError."""
    containers.load(engine.find(), *wanted)


def stop() -> None:
    """Take the cluster away, and end the engine if it is ours."""
    found = engine.find()
    found.start()  # an engine that was killed must run to take its containers away
    containers.delete(found)
    found.stop()
    print("The cluster is gone.")
