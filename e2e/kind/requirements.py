"""What kind needs on this machine beside what every cluster of the suite needs, asked before anything is built."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from e2e.cluster import binary, requirements
from e2e.kind import engine

BARE = {"docker": "docker.io", "dockerd": "docker.io", "ip": "iproute2", "iptables": "iptables", "runc": "runc"}
"""Programs of an engine of our own, and Debian's packages of them."""


def refusal() -> str | None:
    """Why no cluster of kind can run here, everything that is missing in one text; None when one can."""
    is_bare = engine.find().is_bare
    if is_bare and os.geteuid() != 0:
        return "No Docker engine answers, and one of our own needs root: start Docker, or run this as root."
    programs = {**requirements.IMAGES, **(BARE if is_bare else {})}
    lacking = requirements.lacking("kind", requirements.packages(programs))
    return " ".join((*lacking, *_built_with_go(is_bare=is_bare))) or None


def _built_with_go(*, is_bare: bool) -> Iterator[str]:
    if binary.go() is None and (is_bare or shutil.which("kind") is None):
        yield f"{'kind and its node image are' if is_bare else 'kind is'} built with Go (https://go.dev/dl)."
