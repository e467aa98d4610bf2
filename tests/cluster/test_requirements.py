"""What a machine is told that cannot run the local cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.cluster import requirements


def test_missing_packages_are_named_in_one_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(requirements.os, "geteuid", lambda: 0)
    monkeypatch.setattr(requirements.shutil, "which", lambda name: None if name in ("ctr", "buildah") else name)
    monkeypatch.setattr(requirements, "CNI_PLUGINS", tmp_path)
    expected = "The local cluster needs: apt-get install -y buildah containerd containernetworking-plugins"
    assert requirements.refusal() == expected


def test_a_machine_that_has_all_is_not_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bridge").touch()
    monkeypatch.setattr(requirements.os, "geteuid", lambda: 0)
    monkeypatch.setattr(requirements.shutil, "which", lambda name: name)
    monkeypatch.setattr(requirements, "CNI_PLUGINS", tmp_path)
    assert requirements.refusal() is None


def test_without_root_a_cluster_of_ones_own_is_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.os, "geteuid", lambda: 1000)
    assert "KUBECONFIG" in str(requirements.refusal())
