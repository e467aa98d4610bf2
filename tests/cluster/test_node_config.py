"""What the programs of the two nodes are told, where they must differ and where they must not."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from e2e.cluster import node_config
from e2e.cluster.network import KNOWN, Addresses, Site
from e2e.cluster.node_config import Setting
from e2e.cluster.pki import Authority

IPV4 = KNOWN["IPv4"]
FIRST, SECOND = IPV4.first, IPV4.second


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.make(tmp_path / "pki")


def _setting(
    tmp_path: Path, authority: Authority, site: Site, cgroup: str = "", addresses: Addresses = IPV4
) -> Setting:
    folder = tmp_path / site.name
    folder.mkdir()
    return Setting(
        site=site,
        folder=folder,
        store=tmp_path / "store",
        pause="localhost/pause:1",
        kube=tmp_path,
        server="https://10.77.0.1:1",
        authority=authority,
        cgroup=cgroup,
        addresses=addresses,
    )


def test_nodes_share_dns_and_nothing_else(tmp_path: Path, authority: Authority) -> None:
    first = _setting(tmp_path, authority, FIRST)
    second = _setting(tmp_path, authority, SECOND, "two")
    ours, theirs = node_config.kubelet_document(first), node_config.kubelet_document(second)
    assert ours["clusterDNS"] == theirs["clusterDNS"] == [FIRST.address]
    for name in ("address", "cgroupRoot", "containerRuntimeEndpoint", "podLogsDir", "healthzBindAddress"):
        assert ours[name] != theirs[name]
    assert theirs["cgroupRoot"] == "/two"
    assert (first.is_first, second.is_first) == (True, False)


def test_pods_get_addresses_of_their_node(tmp_path: Path, authority: Authority) -> None:
    text = json.dumps(node_config.cni_document(_setting(tmp_path, authority, SECOND)))
    assert SECOND.pods in text
    assert FIRST.pods not in text


def test_the_proxy_takes_pods_of_every_node_for_the_clusters_own(tmp_path: Path, authority: Authority) -> None:
    setting = _setting(tmp_path, authority, SECOND)
    node_config.proxy_command(setting)
    assert json.loads((setting.folder / "proxy.json").read_text())["clusterCIDR"] == IPV4.pods


def test_networks_of_pods_lie_where_the_nodes_end_finds_them(tmp_path: Path, authority: Authority) -> None:
    setting = _setting(tmp_path, authority, FIRST)
    node_config.containerd_command(setting)
    config = tomllib.loads((setting.folder / "containerd.toml").read_text())
    assert config["plugins"]["io.containerd.grpc.v1.cri"]["netns_mounts_under_state_dir"] is True
    assert Path(config["state"]).is_relative_to(setting.folder)


def test_addresses_stand_in_brackets_where_a_port_follows(tmp_path: Path, authority: Authority) -> None:
    six = KNOWN["IPv6"]
    setting = _setting(tmp_path, authority, six.first, addresses=six)
    node_config.proxy_command(setting)
    told = json.loads((setting.folder / "proxy.json").read_text())
    assert (told["healthzBindAddress"], told["clusterCIDR"]) == ("[fd77::1]:10256", six.pods)
    node_config.dns_command(setting)
    assert "ready [fd77::1]:8181" in (setting.folder / "Corefile").read_text()
    assert node_config.kubelet_document(setting)["clusterDNS"] == ["fd77::1"]
    assert {"dst": "::/0"} in node_config.cni_document(setting)["plugins"][0]["ipam"]["routes"]  # type: ignore[index]
