"""The second node of the local cluster: joins while the cluster runs, and goes with it or before it.

Its server holds the node's programs in a network namespace of its own, and ends when the first node's server does.
"""

from __future__ import annotations

import json
import os
import select
from pathlib import Path

from e2e.cluster import binary, images, network, node, runtime
from e2e.cluster.image import tagged
from e2e.cluster.network import Site
from e2e.cluster.node_config import Setting
from e2e.cluster.pki import Authority, Pair
from e2e.cluster.runtime import Runtime
from e2e.cluster.server import Server


def server(cluster: Path) -> Server:
    """The second node's, in the cluster's folder."""
    return Server(role="serve-second", folder=cluster / _second().name)


def join(cluster: Path) -> None:
    """Start the second node unless it runs; it is Ready a few seconds later. Raises RuntimeError."""
    one = server(cluster)
    if one.pid is None:
        network.join(network.wanted().first, _second())
        one.start(_second().enter, {binary.GIVEN: str(binary.get())})


def serve(cluster: Path) -> None:
    """Hold the second node until SIGTERM, or until the first one's server is gone; runs in the node's network."""
    one = server(cluster)
    one.announce()
    worker = node.Node(setting(cluster))
    try:
        worker.start(lambda mine: _load_same(Runtime(runtime.socket(cluster / network.wanted().first.name)), mine))
        _wait_for_the_end_of(int((cluster / "pid").read_text()))
    finally:
        worker.stop()


def part(cluster: Path) -> None:
    """End the second node and forget its network."""
    server(cluster).stop()
    network.part(network.wanted().first, _second())


def setting(cluster: Path) -> Setting:
    """What the second node is made from: the first one's authority, and certificates of its own."""
    plane = json.loads((cluster / "plane.json").read_text(encoding="utf-8"))
    kube, folder = Path(plane["folder"]), cluster / _second().name
    keys = kube / "pki"
    (folder / "pki").mkdir(parents=True, exist_ok=True)
    return Setting(
        site=_second(),
        folder=folder,
        store=binary.cache() / f"containerd-{_second().name}",
        pause=images.pause().tag,
        kube=kube,
        server=plane["server"],
        authority=Authority(folder / "pki", Pair(keys / "ca.crt", keys / "ca.key")),
        cgroup=f"streamjob-{_second().name}",
    )


def _load_same(theirs: Runtime, mine: Runtime) -> None:
    """Import our images that another node has, as far as their archives are still there."""
    for tag in theirs.tags():
        archive = tagged(tag).archive
        if tag.startswith("localhost/") and archive.exists():
            mine.load(tag, archive)


def _wait_for_the_end_of(pid: int) -> None:
    ended = os.pidfd_open(pid)
    try:
        select.select([ended], [], [])
    finally:
        os.close(ended)


def _second() -> Site:
    return network.wanted().second
