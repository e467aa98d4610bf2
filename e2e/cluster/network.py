"""Networks of the local cluster's nodes: a namespace for each, joined by the first one's bridge, with no way out.

Every address of the cluster is one of IPv4 or, where $ADDRESSES says so, of IPv6.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import subprocess
from collections.abc import Mapping

BRIDGE = "node0"
ASKED = "ADDRESSES"
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
        return ("ip", f"-{self._version}", "-n", self.namespace)

    @property
    def host(self) -> str:
        """Its address as a URL has it."""
        return in_url(self.address)

    def on(self, device: str, bits: tuple[int, int]) -> Command:
        """Give the device its address, with so many bits of the network's by IPv4 and by IPv6. Nobody else may have it,
        and to wait until nobody is heard of would only take time."""
        at, more = (bits[0], ()) if self._version == 4 else (bits[1], ("nodad",))
        return (*self.ip, "address", "add", f"{self.address}/{at}", "dev", device, *more)

    @property
    def _version(self) -> int:
        return ipaddress.ip_address(self.address).version


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Of a whole cluster: its nodes, the CIDRs of pods and services, the API server's own service (the first one's
    address), and all there are."""

    first: Site
    second: Site
    pods: str
    services: str
    api_service: str
    all_: str


KNOWN = {
    "IPv4": Addresses(
        first=Site(name="node-1", namespace="streamjob-e2e", address="10.77.0.1", pods="10.78.0.0/24"),
        second=Site(name="node-2", namespace="streamjob-e2e-node-2", address="10.77.0.2", pods="10.78.1.0/24"),
        pods="10.78.0.0/16",
        services="10.79.0.0/24",
        api_service="10.79.0.1",
        all_="0.0.0.0/0",
    ),
    "IPv6": Addresses(
        first=Site(name="node-1", namespace="streamjob-e2e", address="fd77::1", pods="fd78:0:0:1::/64"),
        second=Site(name="node-2", namespace="streamjob-e2e-node-2", address="fd77::2", pods="fd78:0:0:2::/64"),
        pods="fd78::/56",
        services="fd79::/112",
        api_service="fd79::1",
        all_="::/0",
    ),
}


def in_url(address: str) -> str:
    """An address as a URL has it."""
    return f"[{address}]" if ":" in address else address


def wanted(environment: Mapping[str, str] = os.environ) -> Addresses:
    """Those that the environment asks for, else IPv4; raises ValueError."""
    name = environment.get(ASKED) or "IPv4"
    if name not in KNOWN:
        raise ValueError(f"{ASKED} is {name}: it may be {' or '.join(KNOWN)}.")
    return KNOWN[name]


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
        first.on(BRIDGE, (32, 128)),
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
        further.on("eth0", (24, 64)),
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
