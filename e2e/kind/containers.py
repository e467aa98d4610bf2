"""The containers of kind that are the suite's cluster: made, given images, taken away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from e2e.cluster import kubectl, versions
from e2e.cluster.image import Image
from e2e.cluster.versions import Version
from e2e.cluster.volumes import VOLUMES
from e2e.kind import node_image, programs
from e2e.kind.engine import Engine

NAME = "streamjob-e2e"
KUBECONFIG = Path("/var/tmp/streamjob-e2e.kubeconfig")
READY = "300s"
PULLED = "kindest/node"
CONTROL_PLANE = f"{NAME}-control-plane"
WORKERS = (f"{NAME}-worker", f"{NAME}-worker2")
_ON_THE_CONTROL_PLANE = "prometheus"
"""Where no case kills it."""
_NO_OOM_SCORE = '[plugins."io.containerd.grpc.v1.cri"]\n  restrict_oom_score_adj = true\n'


def configuration(node: str, version: Version, *, is_bare: bool) -> dict[str, Any]:
    """What kind is told: one control plane and two workers of the node image `node`, which has that Kubernetes."""
    shared = {"hostPath": str(VOLUMES), "containerPath": str(VOLUMES)}
    worker = {"role": "worker", "image": node, "extraMounts": [shared]}
    document: dict[str, Any] = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "name": NAME,
        "nodes": [{"role": "control-plane", "image": node}, *(worker for _ in WORKERS)],
    }
    if is_bare:  # without CAP_SYS_RESOURCE no pod gets a score below its parent's; of iptables only nft's is there
        document["containerdConfigPatches"] = [_NO_OOM_SCORE]
        document["networking"] = {"ipFamily": "ipv4", "kubeProxyMode": "nftables"}
        if version.nftables_gate:
            document["featureGates"] = {version.nftables_gate: True}
    return document


def node(engine: Engine) -> str:
    """The node image: a kindest/node of our minor that was pulled, else one that is made here; raises RuntimeError."""
    listed = engine.run("docker", "images", "--format={{.Repository}}:{{.Tag}}", PULLED).split()
    pulled = newest(listed, versions.wanted().minor)
    if pulled:
        return pulled
    made = node_image.get()
    known = engine.run("docker", "images", "--format={{.Repository}}:{{.Tag}}", f"localhost/{made.name}").split()
    if made.tag not in known:
        engine.run("docker", "load", "--quiet", f"--input={made.archive}")
        if known:
            engine.run("docker", "rmi", *known)
    return made.tag


def newest(tags: list[str], minor: str) -> str | None:
    """The one with the highest patch of a minor version (`1.34`), None without any."""
    ours = [one for one in tags if one.startswith(f"{PULLED}:v{minor}.") and one.rpartition(".")[2].isdigit()]
    return max(ours, key=lambda one: int(one.rpartition(".")[2]), default=None)


def is_there(engine: Engine) -> bool:
    """Whether the cluster has been made and not taken away."""
    return NAME in engine.run(str(programs.kind()), "get", "clusters").split()


def create(engine: Engine) -> None:
    """Make it, and wait until its nodes are Ready; raises RuntimeError."""
    VOLUMES.mkdir(parents=True, exist_ok=True)
    told = json.dumps(configuration(node(engine), versions.wanted(), is_bare=engine.is_bare))  # JSON is YAML
    access = f"--kubeconfig={KUBECONFIG}"
    engine.run(str(programs.kind()), "create", "cluster", access, "--config=-", text=told)
    # kind's own --wait waits for the control plane alone.
    engine.run(kubectl.program(), access, "wait", "--for=condition=Ready", "nodes", "--all", f"--timeout={READY}")


def load(engine: Engine, *images: Image) -> None:
    """Give the nodes the images that they need and do not have; raises RuntimeError."""
    for image in images:
        nodes = (*WORKERS, CONTROL_PLANE) if image.name == _ON_THE_CONTROL_PLANE else WORKERS
        lacking = [one for one in nodes if not _has(engine, one, image)]
        if lacking:
            to = (f"--name={NAME}", f"--nodes={','.join(lacking)}")
            engine.run(str(programs.kind()), "load", "image-archive", str(image.archive), *to)


def version(engine: Engine) -> str:
    """The minor version of Kubernetes that it runs, as `1.34`; raises RuntimeError."""
    path = "jsonpath={.items[0].status.nodeInfo.kubeletVersion}"
    told = engine.run(kubectl.program(), f"--kubeconfig={KUBECONFIG}", "get", "nodes", f"--output={path}")
    return told.removeprefix("v").rpartition(".")[0]


def delete(engine: Engine) -> None:
    """Take it away; nothing when there is none. Raises RuntimeError."""
    engine.run(str(programs.kind()), "delete", "cluster", f"--name={NAME}", f"--kubeconfig={KUBECONFIG}")
    KUBECONFIG.unlink(missing_ok=True)


def _has(engine: Engine, node: str, image: Image) -> bool:
    listed = engine.run("docker", "exec", node, "ctr", "--namespace=k8s.io", "images", "list", "--quiet")
    return image.tag in listed.split()
