"""What the local cluster and its images need from Debian, and one sentence for what this machine lacks."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

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


def packages() -> tuple[str, ...]:
    """Debian's packages that are missing."""
    lacking = {package for program, package in PROGRAMS.items() if shutil.which(program) is None}
    if not (CNI_PLUGINS / "bridge").exists():
        lacking.add("containernetworking-plugins")
    return tuple(sorted(lacking))


def refusal() -> str | None:
    """Why no local cluster can run here, in one sentence; None when one can."""
    if os.geteuid() != 0:
        return "The local cluster makes network namespaces and mounts: run it as root, or set KUBECONFIG to a cluster."
    lacking = packages()
    return f"The local cluster needs: apt-get install -y {' '.join(lacking)}" if lacking else None
