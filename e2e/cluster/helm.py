"""The real helm: on PATH, in the cache, or built from its Go module (a minute or two).

`python -m e2e.cluster.helm` prints its path, and builds it first where needed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from e2e.cluster import installed
from e2e.cluster.binary import cache
from e2e.cluster.versions import NEWEST

VERSION = "v3.19.0"
MODULE = f"helm.sh/helm/v3/cmd/helm@{VERSION}"
HOW_TO_GET = "no helm: `make helm` builds it (needs Go), or install it (https://helm.sh)"


def find() -> Path | None:
    """The program, if it is there; nothing is built."""
    on_path = shutil.which("helm")
    return Path(on_path) if on_path else (_cached() if _cached().exists() else None)


def get() -> Path:
    """The program, built where it is not there; raises CalledProcessError or FileNotFoundError."""
    return find() or installed.get(MODULE, _cached(), _flags())


def _cached() -> Path:
    return cache() / f"helm-{VERSION}"


def _flags() -> str:
    """With what `helm template` takes a cluster for when it has none; a helm built without says 1.20."""
    major, minor = NEWEST.minor.split(".")
    version = {"Major": major, "Minor": minor}
    names = {
        f"{place}.k8sVersion{part}": version[part] for place in ("pkg/lint/rules", "pkg/chartutil") for part in version
    }
    return " ".join(["-s -w", *(f"-X helm.sh/helm/v3/{name}={value}" for name, value in names.items())])


if __name__ == "__main__":
    print(get())
