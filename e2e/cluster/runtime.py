"""containerd's own client: images that a node has, containers that a cluster before it left behind."""

from __future__ import annotations

import subprocess
from pathlib import Path


def socket(folder: Path) -> Path:
    """containerd's socket in a node's folder."""
    return folder / "containerd.sock"


class Runtime:
    """The containerd that listens on a socket. Its images outlive the clusters that use them."""

    def __init__(self, socket: Path) -> None:
        self._command = ("ctr", "--address", str(socket), "--namespace", "k8s.io")

    def answers(self) -> bool:
        """Whether it is there."""
        return self._run("version").returncode == 0

    def tags(self) -> list[str]:
        """Of the images that are there."""
        return self._run("images", "list", "--quiet").stdout.split()

    def load(self, tag: str, archive: Path) -> bool:
        """Import an image from an OCI archive unless it is there; whether it was not. Raises RuntimeError."""
        if tag in self.tags():
            return False
        done = self._run("images", "import", str(archive))
        if done.returncode:
            raise RuntimeError(f"{archive} cannot be imported: {done.stderr.strip()[-500:]}")
        return True

    def forget_containers(self) -> bool:
        """End and delete every container; whether there were any."""
        for task in self._run("tasks", "list", "--quiet").stdout.split():
            self._run("tasks", "kill", "--signal", "SIGKILL", task)
        for task in self._run("tasks", "list", "--quiet").stdout.split():
            self._run("tasks", "delete", "--force", task)
        containers = self._run("containers", "list", "--quiet").stdout.split()
        if containers:
            self._run("containers", "delete", *containers)
        return bool(containers)

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self._command, *arguments], capture_output=True, text=True, check=False)
