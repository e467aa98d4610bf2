"""A network of its own for a local cluster: pods, services and the node live in one namespace with no way out."""

from __future__ import annotations

import subprocess

NODE_ADDRESS = "10.77.0.1"
BRIDGE = "node0"
POD_CIDR = "10.78.0.0/24"
SERVICE_CIDR = "10.79.0.0/24"
API_SERVICE = "10.79.0.1"  # the first service address is the API server's own


class Network:
    """A network namespace. `enter` is the prefix of every command that runs in it."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def enter(self) -> tuple[str, ...]:
        """Not `ip netns exec`: that mounts /sys anew, and hides the cgroups from the kubelet."""
        return ("nsenter", f"--net=/run/netns/{self.name}", "--")

    def make(self) -> None:
        """Make it anew, with the node's address on a bridge and the default route there; raises RuntimeError."""
        self.remove()
        _run("ip", "netns", "add", self.name)
        inside = ("ip", "-n", self.name)
        _run(*inside, "link", "set", "lo", "up")
        _run(*inside, "link", "add", BRIDGE, "type", "bridge")
        _run(*inside, "address", "add", f"{NODE_ADDRESS}/32", "dev", BRIDGE)
        _run(*inside, "link", "set", BRIDGE, "up")
        _run(*inside, "route", "add", "default", "dev", BRIDGE)

    def remove(self) -> None:
        """Forget it; what still runs in it keeps it alive unseen, so stop that first."""
        subprocess.run(["ip", "netns", "delete", self.name], capture_output=True, check=False)

    def exists(self) -> bool:
        """Whether it was made and not removed."""
        listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        return any(line.split()[:1] == [self.name] for line in listed.splitlines())


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
