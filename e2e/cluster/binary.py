"""The one file that holds Kubernetes: given, cached, or built from the Go module beside this file.

`python -m e2e.cluster.binary` prints its path, and builds it first where needed (8 to 9 minutes on two cores).
Which version it is: `versions.wanted`.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import subprocess
import sys
from pathlib import Path

from e2e.cluster.versions import NEWEST, Version, wanted

MODULE = Path(__file__).parent / "kube"
GIVEN = "STREAMJOB_KUBE"
HOW_TO_GET = f"no Kubernetes binary: `make kube` builds it (needs Go, 9 minutes), or set {GIVEN} to a built file"


def find() -> Path | None:
    """The binary, if it is given (plain or .xz; of the newest version alone) or in the cache; nothing is built.

    Raises FileNotFoundError when one is given that is not there.
    """
    given = os.environ.get(GIVEN)
    if not given or wanted() != NEWEST:
        return _cached() if _cached().exists() else None
    path = Path(given).expanduser().resolve()
    if not path.is_file():
        raise FileNotFoundError(f"{GIVEN} is {given}: there is no such file")
    return _unpacked(path) if path.suffix == ".xz" else path


def get() -> Path:
    """The binary, built where it is neither given nor cached; raises CalledProcessError or FileNotFoundError."""
    if find() is None:
        print("Building Kubernetes from its Go modules: 8 to 9 minutes on two cores, once.", file=sys.stderr)
        _build(".", _cached())
    return find() or _cached()


def tools() -> Path:
    """kubeadm, kubectl and a CoreDNS in one file, as nodes of kind need them; built where it is not in the cache."""
    target = cache() / f"kube-tools-{_digest('tools/*.go')}"
    if not target.exists():
        print("Building kubeadm, kubectl and CoreDNS from their Go modules: some minutes, once.", file=sys.stderr)
        _build("./tools", target)
    return target


def go() -> str | None:
    """Go's own program, where it is on PATH or where its installer puts it; None without."""
    return shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "streamjob"


def _cached() -> Path:
    return cache() / f"kube-{_digest('*.go')}"


def _digest(sources: str) -> str:
    taken = hashlib.sha256()
    for path in (*(MODULE / name for name in wanted().modules), *sorted(MODULE.glob(sources))):
        taken.update(path.read_bytes())
    return taken.hexdigest()[:16]


def _unpacked(packed: Path) -> Path:
    with packed.open("rb") as file:
        target = cache() / f"kube-xz-{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
    if not target.exists():
        temporary = _beside(target)
        with lzma.open(packed) as source, temporary.open("wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        _publish(temporary, target)
    return target


def _build(package: str, target: Path) -> None:
    found = go()
    if found is None:
        raise FileNotFoundError(f"Go is needed to build Kubernetes (https://go.dev/dl), or set {GIVEN} to a built file")
    temporary, version = _beside(target), wanted()
    # -buildvcs=false: the result must depend on the module alone, not on the repository around it.
    command = [
        found,
        "build",
        "-buildvcs=false",
        "-trimpath",
        f"-modfile={version.modules[0]}",
        f"-tags={','.join(version.go_tags)}",
        "-ldflags",
        f"-s -w {_version_flags(version)}",
        "-o",
        str(temporary),
    ]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"}
    subprocess.run([*command, package], cwd=MODULE, env=environment, check=True)
    _publish(temporary, target)


def _version_flags(version: Version) -> str:
    major, minor = version.minor.split(".")
    told = {"gitVersion": f"v{version.number}", "gitMajor": major, "gitMinor": minor}
    return " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in told.items())


def _beside(target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return target.with_name(f"{target.name}.{os.getpid()}.tmp")


def _publish(temporary: Path, target: Path) -> Path:
    """Rename into place: another process sees the whole file or none."""
    temporary.chmod(0o755)
    os.replace(temporary, target)
    return target


if __name__ == "__main__":
    print(get())
