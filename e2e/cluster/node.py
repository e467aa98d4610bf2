"""A node: containerd, kubelet, kube-proxy and CoreDNS as plain processes in the cluster's network."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
from pathlib import Path

from e2e.cluster import network, requirements
from e2e.cluster.pki import Authority, Pair, kubeconfig
from e2e.cluster.process import Process
from e2e.cluster.runtime import Runtime

NODE = "node-1"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a node is made from. `folder` is the node's own; `kube` holds links such as kubelet to the one binary.

    `store` keeps images from one cluster to the next; `pause` is the tag of the image that holds a pod's network.
    """

    folder: Path
    store: Path
    pause: str
    kube: Path
    server: str
    authority: Authority


def socket(folder: Path) -> Path:
    """containerd's socket in a node's folder."""
    return folder / "containerd.sock"


class Node:
    """Starts and stops the programs of one node."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        setting.folder.mkdir(parents=True, exist_ok=True)
        self.runtime = Runtime(socket(setting.folder))
        self.containerd = self._process("containerd", ["containerd", "--config", str(_containerd_config(setting))])
        self._dns = self._process("coredns", [str(setting.kube / "coredns"), "-conf", str(_corefile(setting))])
        self._proxy = self._process(
            "kube-proxy", [str(setting.kube / "kube-proxy"), f"--config={_proxy_config(setting)}"]
        )
        self._kubelet = self._process("kubelet", _kubelet_command(setting))

    def start(self) -> None:
        """Start all; raises DidNotStart. The node is Ready a few seconds later."""
        _share_mounts()
        self._start_containerd()
        if self.runtime.forget_containers():  # of a cluster that crashed; the kubelet would still be told of them
            self.containerd.stop(grace_s=10.0)
            self._start_containerd()
        for one in (self._dns, self._proxy, self._kubelet):
            one.start()

    def stop(self) -> None:
        """Kubelet first, so that it starts nothing again; then what runs in containers; then the rest."""
        self._kubelet.stop()
        self._proxy.stop()
        if self.containerd.pid is not None:
            self.runtime.forget_containers()
        self._dns.stop()
        self.containerd.stop(grace_s=10.0)
        end_leftovers(self._setting.folder)

    def _start_containerd(self) -> None:
        self.containerd.start()
        self.containerd.wait_until(self.runtime.answers, 20.0)

    def _process(self, name: str, command: list[str]) -> Process:
        return Process(name, command, self._setting.folder / f"{name}.log")


def _containerd_config(setting: Setting) -> Path:
    folder = setting.folder
    return _write(
        folder / "containerd.toml",
        f"""
version = 2
root = "{setting.store}"
state = "{folder}/containerd-state"
[grpc]
address = "{socket(folder)}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{setting.pause}"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{requirements.CNI_PLUGINS}"
conf_dir = "{_cni_config(setting)}"
[plugins."io.containerd.internal.v1.opt"]
path = "{folder}/opt"
""",
    )


def _cni_config(setting: Setting) -> Path:
    bridge = {
        "type": "bridge",
        "bridge": "pods0",
        "isGateway": True,
        "ipMasq": False,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "dataDir": str(setting.folder / "cni-addresses"),
            "ranges": [[{"subnet": network.POD_CIDR}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    plugins = [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}]
    folder = setting.folder / "cni"
    folder.mkdir(exist_ok=True)
    _write(folder / "10-pods.conflist", json.dumps({"cniVersion": "1.0.0", "name": "pods", "plugins": plugins}))
    return folder


def _corefile(setting: Setting) -> Path:
    access = kubeconfig(setting.folder / "coredns.kubeconfig", setting.server, setting.authority, _admin(setting))
    return _write(
        setting.folder / "Corefile",
        f".:53 {{\n errors\n ready {network.NODE_ADDRESS}:8181\n"
        f" kubernetes cluster.local in-addr.arpa {{\n  kubeconfig {access}\n }}\n cache 5\n}}\n",
    )


def _proxy_config(setting: Setting) -> Path:
    access = kubeconfig(setting.folder / "proxy.kubeconfig", setting.server, setting.authority, _admin(setting))
    document = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clusterCIDR": network.POD_CIDR,
        "clientConnection": {"kubeconfig": str(access)},
        "hostnameOverride": NODE,
        "conntrack": {"maxPerCore": 0},  # the kernel's setting may not be changed from within a namespace
        "healthzBindAddress": f"{network.NODE_ADDRESS}:10256",
        "metricsBindAddress": f"{network.NODE_ADDRESS}:10249",
    }
    return _write(setting.folder / "proxy.json", json.dumps(document))


def _kubelet_command(setting: Setting) -> list[str]:
    folder = setting.folder
    user = setting.authority.client(f"system:node:{NODE}", "system:nodes")
    access = kubeconfig(folder / "kubelet.kubeconfig", setting.server, setting.authority, user)
    return [
        str(setting.kube / "kubelet"),
        f"--config={_kubelet_config(setting)}",
        f"--kubeconfig={access}",
        f"--hostname-override={NODE}",
        f"--node-ip={network.NODE_ADDRESS}",
        f"--root-dir={folder / 'kubelet'}",
        f"--cert-dir={folder / 'kubelet-certs'}",
    ]


def _kubelet_config(setting: Setting) -> Path:
    folder = setting.folder
    document = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": network.NODE_ADDRESS,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(setting.authority.pair.certificate)},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": "/",
        "failCgroupV1": False,
        "failSwapOn": False,
        "containerRuntimeEndpoint": f"unix://{socket(folder)}",
        "clusterDomain": "cluster.local",
        "clusterDNS": [network.NODE_ADDRESS],
        "resolvConf": "/dev/null",
        "podLogsDir": str(folder / "pods-logs"),
        # The node shares its disk with everything else on the machine: neither pods nor images go for lack of room.
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "healthzBindAddress": network.NODE_ADDRESS,
        "maxPods": 60,
    }
    return _write(folder / "kubelet.json", json.dumps(document))


def _admin(setting: Setting) -> Pair:
    return setting.authority.client("system:admin", "system:masters")


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _share_mounts() -> None:
    """Pods' volumes must be seen by the kubelet and by containerd alike."""
    subprocess.run(["mount", "--make-rshared", "/"], check=True)


def end_leftovers(folder: Path) -> None:
    """End containers that outlived their containerd, and unmount what they left, deepest first."""
    parents, shims = _processes(str(socket(folder)).encode())
    doomed = set(shims)
    while found := {pid for pid, parent in parents.items() if parent in doomed} - doomed:
        doomed |= found
    for pid in doomed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    for mount in sorted((one for one in mounts if one.startswith(str(folder))), key=len, reverse=True):
        subprocess.run(["umount", "--lazy", mount], capture_output=True, check=False)


def _processes(address: bytes) -> tuple[dict[int, int], list[int]]:
    """The parent of every process; and the shims that hold the containers of the containerd at that address."""
    parents, shims = {}, []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_bytes().split(b"\0")
            if b"shim" in command[0] and address in command:
                shims.append(int(entry.name))
    return parents, shims
