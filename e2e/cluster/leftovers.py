"""What a cluster leaves on the machine that its own programs do not take away, above all when they were killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from e2e.cluster.node_config import POD_NETWORK
from e2e.cluster.runtime import socket

CNI_RECORDS = Path("/var/lib/cni/results")
"""Where the CNI library of containerd keeps a file for each pod and network: NETWORK-CONTAINER-INTERFACE."""


def end(folder: Path) -> None:
    """End containers that outlived their containerd, and unmount what they left below `folder`, deepest first.

    `folder` is a node's, or that of all nodes. Networks of pods are such mounts, too.
    """
    parents, shims = _processes(folder)
    doomed = set(shims)
    while found := {pid for pid, parent in parents.items() if parent in doomed} - doomed:
        doomed |= found
    for pid in doomed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    for mount in sorted((one for one in mounts if Path(one).is_relative_to(folder)), key=len, reverse=True):
        subprocess.run(["umount", "--lazy", mount], capture_output=True, check=False)


def forget_pod_networks(records: Path = CNI_RECORDS) -> None:
    """Remove what the CNI library remembers of our pods, whose containers all are gone."""
    ours = {path.name.removeprefix(f"{POD_NETWORK}-").partition("-")[0] for path in records.glob(f"{POD_NETWORK}-*")}
    for path in records.glob("*-*-*"):
        if path.name.split("-")[-2] in ours:  # of the same container: its loopback has a network of another name
            path.unlink(missing_ok=True)


def _processes(folder: Path) -> tuple[dict[int, int], list[int]]:
    """The parent of every process; and the shims that hold the containers of a containerd below the folder."""
    parents, shims = {}, []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            if "shim" in command[0] and any(_is_socket_below(word, folder) for word in command):
                shims.append(int(entry.name))
    return parents, shims


def _is_socket_below(word: str, folder: Path) -> bool:
    return Path(word).name == socket(folder).name and Path(word).is_relative_to(folder)
