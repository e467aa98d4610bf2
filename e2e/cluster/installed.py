"""Programs that `go install` builds from their own modules, in the cache."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from e2e.cluster.binary import cache, go


def get(module: str, target: Path, flags: str = "-s -w") -> Path:
    """The program of a module (`path@version`) as `target`, built unless it is there.

    Raises FileNotFoundError without Go, CalledProcessError when it cannot be built.
    """
    if target.exists():
        return target
    found = go()
    if found is None:
        raise FileNotFoundError(f"Go is needed to build {module} (https://go.dev/dl)")
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as folder:
        environment = {**os.environ, "GOBIN": folder, "CGO_ENABLED": "0"}
        subprocess.run([found, "install", "-trimpath", f"-ldflags={flags}", module], env=environment, check=True)
        os.replace(next(Path(folder).iterdir()), target)
    return target
