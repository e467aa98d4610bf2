"""What an image is called by: an edit makes another image where it goes into it, and leaves the others as they are."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from e2e.cluster import images
from e2e.cluster.image import Image, tagged


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A project of one file per source, whose images count as made."""
    for name in {*images._OPERATOR_SOURCES, *images._AGENT_SOURCES}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    monkeypatch.setattr(images, "ROOT", tmp_path)
    monkeypatch.setattr(images, "base", lambda: Image(name="base", key="1"))
    monkeypatch.setattr(images, "spark", lambda: Image(name="spark", key="1"))
    monkeypatch.setattr(Image, "archive", property(lambda _: tmp_path))
    return tmp_path


def tags() -> tuple[str, str]:
    return images.operator().tag, images.agent().tag


@pytest.mark.parametrize(
    ("source", "changed"),
    [("operator", (True, False)), ("planners", (True, False)), ("agent", (True, True)), ("Dockerfile", (True, True))],
)
def test_an_edit_changes_the_images_that_it_goes_into(keys: Path, source: str, changed: Iterable[bool]) -> None:
    before = tags()
    (keys / source).write_text("edited", encoding="utf-8")
    assert tuple(one != other for one, other in zip(before, tags(), strict=True)) == changed


def test_a_file_that_is_moved_makes_another_image(keys: Path) -> None:
    (keys / "operator").unlink()
    (keys / "operator").mkdir()
    (keys / "operator" / "a.py").write_text("text", encoding="utf-8")
    before = images.operator().tag
    (keys / "operator" / "a.py").rename(keys / "operator" / "b.py")
    assert images.operator().tag != before


def test_compiled_python_is_no_source(keys: Path) -> None:
    (keys / "agent").unlink()
    (keys / "agent" / "__pycache__").mkdir(parents=True)
    before = images.agent().tag
    (keys / "agent" / "__pycache__" / "a.pyc").write_bytes(b"1")
    assert images.agent().tag == before


def test_an_image_is_found_again_by_its_tag() -> None:
    image = Image(name="streamjob-agent", key="12ab")
    assert tagged(image.tag) == image


@pytest.mark.parametrize(
    ("theirs", "found"),
    [({}, "/opt/streamjob-agent"), ({"PYTHONPATH": "/theirs:/more"}, "/opt/streamjob-agent:/theirs:/more")],
)
def test_the_agents_image_keeps_the_python_path_of_the_image_below(theirs: dict[str, str], found: str) -> None:
    """Builders of images know this much of what a shell knows."""
    last = (Path(__file__).parents[2] / "Dockerfile").read_text(encoding="utf-8").splitlines()[-1]
    name, _, value = last.removeprefix("ENV ").partition("=")
    said = subprocess.run(
        ["/bin/sh", "-c", f"echo {value}"], env=theirs, capture_output=True, text=True, check=True
    ).stdout
    assert (name, said.strip()) == ("PYTHONPATH", found)
