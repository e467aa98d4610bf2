"""What a machine is told that cannot run kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.cluster import requirements as shared
from e2e.kind import requirements
from e2e.kind.engine import OURS, Engine


@pytest.fixture
def without_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with room, memory and root, and without any program."""
    monkeypatch.setattr(requirements.os, "geteuid", lambda: 0)
    monkeypatch.setattr(shared.shutil, "which", lambda _: None)
    monkeypatch.setattr(shared.binary, "find", lambda: Path("kube"))
    monkeypatch.setattr(requirements.binary, "go", lambda: "go")
    monkeypatch.setattr(shared.helm, "find", lambda: Path("helm"))
    monkeypatch.setattr(shared, "DISK_BYTES", 0)
    monkeypatch.setattr(shared, "MEMORY_BYTES", 0)


@pytest.mark.usefixtures("without_programs")
def test_with_a_docker_engine_only_images_need_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.engine, "find", Engine)
    assert requirements.refusal() == "kind needs: apt-get install -y buildah busybox-static debootstrap"


@pytest.mark.usefixtures("without_programs")
def test_without_one_ours_needs_packages_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.engine, "find", lambda: OURS)
    told = str(requirements.refusal())
    assert told.endswith("buildah busybox-static debootstrap docker.io iproute2 iptables runc")


@pytest.mark.usefixtures("without_programs")
@pytest.mark.parametrize(("found", "built"), [(Engine(), "kind is"), (OURS, "kind and its node image are")])
def test_go_is_needed_for_kind_itself(found: Engine, built: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.engine, "find", lambda: found)
    monkeypatch.setattr(requirements.binary, "go", lambda: None)
    assert str(requirements.refusal()).endswith(f"{built} built with Go (https://go.dev/dl).")
    monkeypatch.setattr(shared.shutil, "which", lambda name: name)
    assert (requirements.refusal() is None) is not found.is_bare


def test_an_engine_of_ones_own_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.engine, "find", lambda: OURS)
    monkeypatch.setattr(requirements.os, "geteuid", lambda: 1000)
    assert "start Docker, or run this as root" in str(requirements.refusal())
