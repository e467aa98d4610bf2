"""kind itself: the one on PATH, else built from its Go module, whose source also has what a node is made from."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from e2e.cluster import binary, installed

VERSION = "v0.30.0"
MODULE = "sigs.k8s.io/kind"


def kind() -> Path:
    """The program, built where it is not there (half a minute); raises FileNotFoundError or CalledProcessError."""
    on_path = shutil.which("kind")
    return Path(on_path) if on_path else installed.get(f"{MODULE}@{VERSION}", binary.cache() / f"kind-{VERSION}")


def base() -> Path:
    """The folder of kind's base image in its module's source; raises FileNotFoundError or CalledProcessError."""
    found = binary.go()
    if found is None:
        raise FileNotFoundError("Go is needed for the source of kind's base image (https://go.dev/dl)")
    command = [found, "mod", "download", "-json", f"{MODULE}@{VERSION}"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Path(json.loads(told)["Dir"], "images", "base")
