"""Networks of the local cluster's nodes: a namespace for each, joined by the first one's bridge, with no way out."""

from __future__ import annotations

import dataclasses
import subprocess

BRIDGE = "node0"
POD_CIDR = "10.78.0.0/16"
SERVICE_CIDR = "10.79.0.0/24"
API_SERVICE = "10.79.0.1"  # the first service address is the API server's own
Command = tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where a node lives: its name, its network namespace, its address, and the CIDR of its pods (within POD_CIDR)."""

    name: str
    namespace: str
    address: str
    pods: str

    @property
    def enter(self) -> Command:
        """Prefix of every command that runs in it.

        Not `ip netns exec`: that mounts /sys anew, and hides the cgroups from the kubelet.
        """
        return ("nsenter", f"--net=/run/netns/{self.namespace}", "--")

    @property
    def ip(self) -> Command:
        """`ip` in it."""
        return ("ip", "-n", self.namespace)


FIRST = Site(name="node-1", namespace="streamjob-e2e", address="10.77.0.1", pods="10.78.0.0/24")
SECOND = Site(name="node-2", namespace="streamjob-e2e-node-2", address="10.77.0.2", pods="10.78.1.0/24")


def make(first: Site) -> None:
    """Make the first node's network anew; raises RuntimeError."""
    remove(first)
    _run(*to_make(first))


def join(first: Site, further: Site) -> None:
    """Make a further node's network anew, and tie it to the first one's; raises RuntimeError."""
    part(first, further)
    _run(*to_join(first, further))


def part(first: Site, further: Site) -> None:
    """Forget a further node's network, and the way to it."""
    for command in to_part(first, further):
        subprocess.run(command, capture_output=True, check=False)


def remove(site: Site) -> None:
    """Forget a network; what still runs in it keeps it alive unseen, so stop that first."""
    subprocess.run(["ip", "netns", "delete", site.namespace], capture_output=True, check=False)


def to_make(first: Site) -> tuple[Command, ...]:
    """The node's address on a bridge, and the default route there."""
    return (
        ("ip", "netns", "add", first.namespace),
        (*first.ip, "link", "set", "lo", "up"),
        (*first.ip, "link", "add", BRIDGE, "type", "bridge"),
        (*first.ip, "address", "add", f"{first.address}/32", "dev", BRIDGE),
        (*first.ip, "link", "set", BRIDGE, "up"),
        (*first.ip, "route", "add", "default", "dev", BRIDGE),
    )


def to_join(first: Site, further: Site) -> tuple[Command, ...]:
    """A cable from a port of the first node's bridge, and routes to each other's pods."""
    port = further.name
    return (
        ("ip", "netns", "add", further.namespace),
        (*further.ip, "link", "set", "lo", "up"),
        (*first.ip, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", further.namespace),
        (*first.ip, "link", "set", port, "master", BRIDGE, "up"),
        (*further.ip, "address", "add", f"{further.address}/24", "dev", "eth0"),
        (*further.ip, "link", "set", "eth0", "up"),
        (*further.ip, "route", "add", "default", "via", first.address),  # services, too, must have a route
        (*further.ip, "route", "add", first.pods, "via", first.address),
        # The first node's own address is a /32: without `onlink` no neighbour would count as reachable.
        (*first.ip, "route", "add", further.pods, "via", further.address, "dev", BRIDGE, "onlink"),
    )


def to_part(first: Site, further: Site) -> tuple[Command, ...]:
    """The reverse; each of them may fail, because it may be gone."""
    return (
        (*first.ip, "route", "delete", further.pods),
        (*first.ip, "link", "delete", further.name),
        ("ip", "netns", "delete", further.namespace),
    )


def _run(*commands: Command) -> None:
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
