"""What the node image is called by."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from e2e.cluster.image import Image
from e2e.kind import node_image


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with copies of the sources, and a file for each program."""
    monkeypatch.setattr(node_image.images, "base", lambda: Image(name="base", key="1"))
    monkeypatch.setattr(node_image.images, "pause", lambda: Image(name="pause", key="1"))
    for name in ("node", "parts"):
        shutil.copytree(node_image.HERE / name, tmp_path / name)
    for name in ("kube", "tools"):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(node_image, "HERE", tmp_path)
    return tmp_path


@pytest.mark.parametrize("edited", ["kube", "tools", "node/default-cni.yaml", "parts/routes.sh"])
def test_an_edit_of_anything_that_goes_in_makes_another(parts: Path, edited: str) -> None:
    before = node_image.image(parts / "kube", parts / "tools")
    assert node_image.image(parts / "kube", parts / "tools") == before
    (parts / edited).write_text("edited")
    assert node_image.image(parts / "kube", parts / "tools").key != before.key


def test_another_kind_makes_another(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = node_image.image(parts / "kube", parts / "tools")
    monkeypatch.setattr(node_image.programs, "VERSION", "v0.31.0")
    assert node_image.image(parts / "kube", parts / "tools").key != before.key
