"""What the local cluster and its images need, asked before anything is built: all that this machine lacks at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from e2e.cluster import binary, helm

PROGRAMS = {
    "buildah": "buildah",
    "busybox": "busybox-static",
    "containerd": "containerd",
    "ctr": "containerd",
    "debootstrap": "debootstrap",
    "ip": "iproute2",
    "nft": "nftables",
    "nsenter": "util-linux",
    "openssl": "openssl",
    "runc": "runc",
    "setpriv": "util-linux",
}
CNI_PLUGINS = Path("/usr/lib/cni")
MEMORY_INFO = Path("/proc/meminfo")
STORES = (Path("/var/lib/containers"), Path("/var/tmp"))
"""Where buildah keeps images, and where the cluster and the archives that it reads them from are."""
DISK_BYTES = 12 * 2**30
"""Operator, Spark, agent and Prometheus are 3.5 GB of images: in buildah's store, as archives, and in the node's."""
MEMORY_BYTES = 6 * 2**30
"""Control plane, operator, Prometheus, Kafka, a driver and four executors: about one gibibyte each, not all at once."""


def packages() -> tuple[str, ...]:
    """Debian's packages that are missing."""
    lacking = {package for program, package in PROGRAMS.items() if shutil.which(program) is None}
    if not (CNI_PLUGINS / "bridge").exists():
        lacking.add("containernetworking-plugins")
    return tuple(sorted(lacking))


def refusal() -> str | None:
    """Why no local cluster can run here, everything that is missing in one text; None when one can."""
    if os.geteuid() != 0:
        return "The local cluster makes network namespaces and mounts: run it as root, or set KUBECONFIG to a cluster."
    return " ".join(_lacking()) or None


def _lacking() -> Iterator[str]:
    packages_lacking = packages()
    if packages_lacking:
        yield f"The local cluster needs: apt-get install -y {' '.join(packages_lacking)}"
    if not (binary.find() and helm.find()) and binary.go() is None:
        yield f"Kubernetes and helm are built with Go (https://go.dev/dl), or set {binary.GIVEN} to a built file."
    for store in STORES:
        free = shutil.disk_usage(_existing(store)).free
        if free < DISK_BYTES:
            yield f"{store} has {free / 2**30:.1f} GiB free, {DISK_BYTES / 2**30:.0f} GiB are needed for images."
    available = _available_bytes()
    if available is not None and available < MEMORY_BYTES:
        yield f"{available / 2**30:.1f} GiB of memory are available, {MEMORY_BYTES / 2**30:.0f} GiB are needed."


def _existing(folder: Path) -> Path:
    return next(one for one in (folder, *folder.parents) if one.exists())


def _available_bytes() -> int | None:
    """Memory that programs can still have; None where the kernel does not tell."""
    lines = MEMORY_INFO.read_text(encoding="utf-8").splitlines() if MEMORY_INFO.exists() else []
    told = next((line.split() for line in lines if line.startswith("MemAvailable:")), None)
    return None if told is None else int(told[1]) * 1024
