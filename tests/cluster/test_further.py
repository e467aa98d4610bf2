"""The second node is made from the first one's authority, with keys of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from e2e.cluster import further, images, network, node_config
from e2e.cluster.image import Image
from e2e.cluster.pki import Authority

SECOND = network.KNOWN["IPv4"].second


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cluster whose first node runs."""
    monkeypatch.setattr(images, "pause", lambda: Image(name="pause", key="1"))
    Authority.make(tmp_path / "plane" / "pki")
    folder = tmp_path / "cluster"
    folder.mkdir()
    told = {"folder": str(tmp_path / "plane"), "server": "https://10.77.0.1:6443"}
    (folder / "plane.json").write_text(json.dumps(told))
    return folder


def test_its_kubelet_logs_in_as_itself_at_the_first_nodes_server(cluster: Path) -> None:
    setting = further.setting(cluster)
    node_config.kubelet_command(setting)
    access = json.loads((setting.folder / "kubelet.kubeconfig").read_text())
    assert access["clusters"][0]["cluster"]["server"] == "https://10.77.0.1:6443"
    certificate = Path(access["users"][0]["user"]["client-certificate"])
    assert certificate.is_relative_to(cluster / SECOND.name)
    verify = ["openssl", "verify", "-CAfile", access["clusters"][0]["cluster"]["certificate-authority"]]
    assert subprocess.run([*verify, str(certificate)], capture_output=True, check=False).returncode == 0
    subject = ["openssl", "x509", "-noout", "-subject", "-in", str(certificate)]
    told = subprocess.run(subject, capture_output=True, text=True, check=True).stdout.replace(" ", "")
    assert f"CN=system:node:{SECOND.name}" in told
    assert "O=system:nodes" in told


def test_it_shares_no_folder_with_the_first(cluster: Path) -> None:
    setting = further.setting(cluster)
    assert setting.folder == cluster / SECOND.name
    assert setting.cgroup
    assert not setting.is_first


def test_a_second_node_that_never_was_is_parted_in_peace(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parted = []
    monkeypatch.setattr(further.network, "part", lambda *sites: parted.append(sites))
    further.part(cluster)
    assert len(parted) == 1
