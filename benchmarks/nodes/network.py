"""Nodes as network namespaces: each has an address, a cable to the hub's bridge, and a bandwidth both ways.

What runs in one namespace reaches another by the cables alone, so a byte that Spark reads from another node is a byte
on a wire of known width. There is no way out, and nothing of the machine's own network is touched.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import time
from collections.abc import Iterator

PREFIX, BRIDGE = "streamjob-nodes", "nodes0"
BURST_BYTES = 256 * 1024
"""More than the largest packet that a virtual cable carries whole."""
QUEUE_MS = 200
GRACE_S = 5.0
Command = tuple[str, ...]


class Unusable(RuntimeError):
    """Nodes cannot be made here; the text is a sentence for whoever asked."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One namespace and its address."""

    namespace: str
    address: str

    @property
    def enter(self) -> Command:
        """Prefix of every command that runs in it."""
        return ("nsenter", f"--net=/run/netns/{self.namespace}", "--")

    @property
    def ip(self) -> Command:
        return ("ip", "-n", self.namespace)


HUB = Site(namespace=f"{PREFIX}-hub", address="10.76.0.1")
"""Where the master and the driver are; the bridge is its own card."""


def node(number: int) -> Site:
    """The nodes are numbered from 1."""
    return Site(namespace=f"{PREFIX}-{number}", address=f"10.76.0.{number + 1}")


@contextlib.contextmanager
def network(nodes: int, mbit_s: float) -> Iterator[tuple[Site, ...]]:
    """That many nodes, each with a cable of `mbit_s` each way; all of it is gone after the block, whatever runs there.

    Raises Unusable where that is impossible.
    """
    if os.geteuid() != 0:
        raise Unusable(f"Network namespaces need root; this is user {os.geteuid()}.")
    if not 1 <= nodes <= 200:
        raise Unusable(f"nodes: {nodes} given; 1 to 200 are possible.")
    if not mbit_s >= 1.0:
        raise Unusable(f"mbit_s: {mbit_s:g} given; a cable carries 1 Mbit/s or more.")
    sites = tuple(node(number) for number in range(1, nodes + 1))
    for one in (HUB, *sites):
        _refuse_used(one)
    try:
        for command in to_make(sites, mbit_s):
            _run(command)
        yield sites
    finally:
        for one in (*sites, HUB):
            _end_processes(one)
            _remove(one)


def to_make(sites: tuple[Site, ...], mbit_s: float) -> tuple[Command, ...]:
    """The hub with its bridge, and a cable for each node."""
    made = [
        ("ip", "netns", "add", HUB.namespace),
        (*HUB.ip, "link", "set", "lo", "up"),
        (*HUB.ip, "link", "add", BRIDGE, "type", "bridge"),
        (*HUB.ip, "address", "add", f"{HUB.address}/24", "dev", BRIDGE),
        (*HUB.ip, "link", "set", BRIDGE, "up"),
    ]
    for at, one in enumerate(sites):
        port = f"port{at + 1}"
        made += [
            ("ip", "netns", "add", one.namespace),
            (*one.ip, "link", "set", "lo", "up"),
            (*HUB.ip, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", one.namespace),
            (*HUB.ip, "link", "set", port, "master", BRIDGE, "up"),
            (*one.ip, "address", "add", f"{one.address}/24", "dev", "eth0"),
            (*one.ip, "link", "set", "eth0", "up"),
            _limited(HUB, port, mbit_s),
            _limited(one, "eth0", mbit_s),
        ]
    return tuple(made)


def _limited(site: Site, card: str, mbit_s: float) -> Command:
    """What leaves by this card, no faster than that."""
    rate, burst, latency = f"{mbit_s:g}mbit", str(BURST_BYTES), f"{QUEUE_MS}ms"
    shape = ("root", "tbf", "rate", rate, "burst", burst, "latency", latency)
    return ("tc", "-n", site.namespace, "qdisc", "add", "dev", card, *shape)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """Bytes on the cables since they were made: those that nodes sent, and of these those that the hub got."""

    sent_bytes: int
    to_hub_bytes: int

    @property
    def between_bytes(self) -> int:
        """From node to node."""
        return self.sent_bytes - self.to_hub_bytes


def wire(nodes: int) -> Wire:
    """Read from the cards' own counters; there is no such file before the network is made."""
    sent = sum(_counted(node(number), "eth0").sent for number in range(1, nodes + 1))
    return Wire(sent_bytes=sent, to_hub_bytes=_counted(HUB, BRIDGE).received)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    received: int
    sent: int


def _counted(site: Site, card: str) -> _Card:
    done = subprocess.run([*site.enter, "cat", "/proc/net/dev"], capture_output=True, text=True, check=True)
    return read_card(done.stdout, card)


def read_card(text: str, card: str) -> _Card:
    """A card's line of /proc/net/dev: sixteen figures, bytes received first, bytes sent ninth."""
    for line in text.splitlines():
        name, found, figures = line.partition(":")
        if found and name.strip() == card:
            numbers = [int(word) for word in figures.split()]
            return _Card(received=numbers[0], sent=numbers[8])
    raise ValueError(f"card {card}: not in /proc/net/dev")


def _refuse_used(site: Site) -> None:
    """A namespace of an earlier run is forgotten, unless somebody is still in it."""
    running = _processes(site)
    if running:
        raise Unusable(f"Namespace {site.namespace} is in use by process {running[0]}: end that first.")
    _remove(site)


def _processes(site: Site) -> list[int]:
    done = subprocess.run(["ip", "netns", "pids", site.namespace], capture_output=True, text=True, check=False)
    return [int(word) for word in done.stdout.split()]


def _end_processes(site: Site) -> None:
    """All that runs in a namespace of ours was started by us: asked first, then killed."""
    for what in (signal.SIGTERM, signal.SIGKILL):
        for one in _processes(site):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, what)
        until_s = time.monotonic() + GRACE_S
        while _processes(site) and time.monotonic() < until_s:
            time.sleep(0.1)


def _remove(site: Site) -> None:
    subprocess.run(["ip", "netns", "delete", site.namespace], capture_output=True, check=False)


def _run(command: Command) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unusable(f"{' '.join(command)} failed: {done.stderr.strip()}")
