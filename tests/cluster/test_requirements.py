"""What a machine is told that cannot run the local cluster."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import e2e.suite.__main__ as suite
import pytest
from e2e.cluster import requirements


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine that has everything; returns the folder of its CNI plugins."""
    (tmp_path / "bridge").touch()
    (tmp_path / "meminfo").write_text("MemTotal: 24000000 kB\nMemAvailable: 20000000 kB\n")
    monkeypatch.setattr(requirements.os, "geteuid", lambda: 0)
    monkeypatch.setattr(requirements.shutil, "which", lambda name: name)
    monkeypatch.setattr(requirements.binary, "find", lambda: tmp_path)
    monkeypatch.setattr(requirements.helm, "find", lambda: tmp_path)
    monkeypatch.setattr(requirements, "CNI_PLUGINS", tmp_path)
    monkeypatch.setattr(requirements, "MEMORY_INFO", tmp_path / "meminfo")
    _disk(monkeypatch, 100.0)
    return tmp_path


def _disk(monkeypatch: pytest.MonkeyPatch, free_gib: float) -> None:
    usage = SimpleNamespace(free=int(free_gib * 2**30))
    monkeypatch.setattr(requirements.shutil, "disk_usage", lambda _: usage)


def test_a_machine_that_has_all_is_not_refused(machine: Path) -> None:
    assert requirements.refusal() is None


def test_missing_packages_are_named_in_one_command(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "bridge").unlink()
    monkeypatch.setattr(requirements.shutil, "which", lambda name: None if name in ("ctr", "buildah") else name)
    expected = "The local cluster needs: apt-get install -y buildah containerd containernetworking-plugins"
    assert requirements.refusal() == expected


def test_everything_that_is_missing_is_told_at_once(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.shutil, "which", lambda name: None if name == "nft" else name)
    monkeypatch.setattr(requirements.binary, "find", lambda: None)
    monkeypatch.setattr(requirements.binary, "go", lambda: None)
    _disk(monkeypatch, 3.25)
    (machine / "meminfo").write_text("MemAvailable: 2097152 kB\n")
    told = str(requirements.refusal())
    assert "apt-get install -y nftables" in told
    assert "built with Go (https://go.dev/dl)" in told
    assert "/var/tmp has 3.2 GiB free, 12 GiB are needed" in told
    assert "2.0 GiB of memory are available, 6 GiB are needed." in told


def test_what_is_built_already_needs_no_go(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.binary, "go", lambda: None)
    assert requirements.refusal() is None


def test_without_root_a_cluster_of_ones_own_is_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.os, "geteuid", lambda: 1000)
    assert "KUBECONFIG" in str(requirements.refusal())


def test_the_suite_asks_before_it_builds_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    def built() -> Path:
        raise AssertionError("built before the machine was looked at")

    for name in ("KUBECONFIG", "CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(requirements.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(suite.helm, "get", built)
    monkeypatch.setattr(suite.kafka, "get", lambda _: built())
    monkeypatch.setattr(suite.signal, "signal", lambda *_: None)
    monkeypatch.setattr(suite.sys, "argv", ["suite"])
    assert suite.main() == 2


def test_maven_is_asked_for_with_the_rest(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine))
    assert suite._refusal(suite.clusters.MADE["local"]) is None
    monkeypatch.setattr(requirements.shutil, "which", lambda name: None if name in ("mvn", "nft") else name)
    expected = "The local cluster needs: apt-get install -y nftables Kafka's cases need: apt-get install -y maven"
    assert suite._refusal(suite.clusters.MADE["local"]) == expected
    assert suite._refusal(None) is None
