"""What the programs of a node are told: their configuration files and command lines."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from e2e.cluster import network, requirements, runtime
from e2e.cluster.network import Addresses, Site
from e2e.cluster.pki import Authority, Pair, kubeconfig

POD_NETWORK = "streamjob-pods"
"""Name of the CNI network: by it we know our pods' records among those of other programs on this machine."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a node is made from.

    Attributes:
        folder: the node's own.
        store: keeps its images from one cluster to the next.
        pause: tag of the image that holds a pod's network.
        kube: folder with links such as kubelet to the one binary.
        server: URL of the API server.
        authority: makes the node's certificates, in a folder of its own.
        addresses: of the whole cluster; CoreDNS has the first node's.
        cgroup: the control group below which the pods' groups are; empty for the root.
    """

    site: Site
    folder: Path
    store: Path
    pause: str
    kube: Path
    server: str
    authority: Authority
    addresses: Addresses = dataclasses.field(default_factory=network.wanted)
    cgroup: str = ""

    @property
    def is_first(self) -> bool:
        """Whether CoreDNS runs here."""
        return self.site == self.addresses.first


def containerd_command(setting: Setting) -> list[str]:
    folder = setting.folder
    config = f"""
version = 2
root = "{setting.store}"
state = "{folder}/containerd-state"
[grpc]
address = "{runtime.socket(folder)}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{setting.pause}"
restrict_oom_score_adj = true
# In our folder and not in /run/netns, where nobody could tell whose they are once the cluster is gone.
netns_mounts_under_state_dir = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{requirements.CNI_PLUGINS}"
conf_dir = "{_cni_config(setting)}"
[plugins."io.containerd.internal.v1.opt"]
path = "{folder}/opt"
"""
    return ["containerd", "--config", str(_write(folder / "containerd.toml", config))]


def dns_command(setting: Setting) -> list[str]:
    access = _access(setting, "coredns", setting.authority.client("system:admin", "system:masters"))
    text = (
        f".:53 {{\n errors\n ready {setting.addresses.first.host}:8181\n"
        f" kubernetes cluster.local in-addr.arpa ip6.arpa {{\n  kubeconfig {access}\n }}\n cache 5\n}}\n"
    )
    return [str(setting.kube / "coredns"), "-conf", str(_write(setting.folder / "Corefile", text))]


def proxy_command(setting: Setting) -> list[str]:
    access = _access(setting, "proxy", setting.authority.client("system:kube-proxy", "system:masters"))
    document = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clusterCIDR": setting.addresses.pods,
        "clientConnection": {"kubeconfig": str(access)},
        "hostnameOverride": setting.site.name,
        "conntrack": {"maxPerCore": 0},  # the kernel's setting may not be changed from within a namespace
        "healthzBindAddress": f"{setting.site.host}:10256",
        "metricsBindAddress": f"{setting.site.host}:10249",
    }
    config = _write(setting.folder / "proxy.json", json.dumps(document))
    return [str(setting.kube / "kube-proxy"), f"--config={config}"]


def kubelet_command(setting: Setting) -> list[str]:
    folder, site = setting.folder, setting.site
    user = setting.authority.client(f"system:node:{site.name}", "system:nodes")
    return [
        str(setting.kube / "kubelet"),
        f"--config={_write(folder / 'kubelet.json', json.dumps(kubelet_document(setting)))}",
        f"--kubeconfig={_access(setting, 'kubelet', user)}",
        f"--hostname-override={site.name}",
        f"--node-ip={site.address}",
        f"--root-dir={folder / 'kubelet'}",
        f"--cert-dir={folder / 'kubelet-certs'}",
    ]


def kubelet_document(setting: Setting) -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": setting.site.address,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(setting.authority.pair.certificate)},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{setting.cgroup}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "containerRuntimeEndpoint": f"unix://{runtime.socket(setting.folder)}",
        "clusterDomain": "cluster.local",
        "clusterDNS": [setting.addresses.first.address],
        "resolvConf": "/dev/null",
        "podLogsDir": str(setting.folder / "pods-logs"),
        # The node shares its disk with everything else on the machine: neither pods nor images go for lack of room.
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "healthzBindAddress": setting.site.address,
        "maxPods": 60,
    }


def cni_document(setting: Setting) -> dict[str, object]:
    bridge = {
        "type": "bridge",
        "bridge": "pods0",
        "isGateway": True,
        "ipMasq": False,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "dataDir": str(setting.folder / "cni-addresses"),
            "ranges": [[{"subnet": setting.site.pods}]],
            "routes": [{"dst": setting.addresses.all_}],
        },
    }
    plugins = [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}]
    return {"cniVersion": "1.0.0", "name": POD_NETWORK, "plugins": plugins}


def _cni_config(setting: Setting) -> Path:
    folder = setting.folder / "cni"
    folder.mkdir(exist_ok=True)
    _write(folder / "10-pods.conflist", json.dumps(cni_document(setting)))
    return folder


def _access(setting: Setting, part: str, user: Pair) -> Path:
    return kubeconfig(setting.folder / f"{part}.kubeconfig", setting.server, setting.authority, user)


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
