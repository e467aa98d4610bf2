"""What a cluster on this machine and its images need, asked before anything is built: all that is lacking, at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from e2e.cluster import binary, helm

IMAGES = {"buildah": "buildah", "busybox": "busybox-static", "debootstrap": "debootstrap"}
"""What images are made with: a program, and Debian's package of it."""
PROGRAMS = {
    **IMAGES,
    "containerd": "containerd",
    "ctr": "containerd",
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


def packages(programs: Mapping[str, str]) -> tuple[str, ...]:
    """Debian's packages of these programs that are missing."""
    return tuple(sorted({package for program, package in programs.items() if shutil.which(program) is None}))


def refusal() -> str | None:
    """Why no local cluster can run here, everything that is missing in one text; None when one can."""
    if os.geteuid() != 0:
        return "The local cluster makes network namespaces and mounts: run it as root, or set KUBECONFIG to a cluster."
    plugins = () if (CNI_PLUGINS / "bridge").exists() else ("containernetworking-plugins",)
    return " ".join(lacking("The local cluster", (*packages(PROGRAMS), *plugins))) or None


def lacking(who: str, missing: tuple[str, ...]) -> Iterator[str]:
    """A sentence for each thing that a cluster needs and this machine lacks, these packages of Debian's among them."""
    if missing:
        yield f"{who} needs: apt-get install -y {' '.join(sorted(missing))}"
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
