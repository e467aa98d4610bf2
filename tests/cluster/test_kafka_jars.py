"""Kafka's jars come by Maven once, and a machine without Maven is told what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.cluster import kafka, maven


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/sbin:/bin")


def _maven(folder: Path, script: str) -> None:
    program = folder / "mvn"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


FETCH = """for word; do case $word in -DoutputDirectory=*) folder=${word#*=};; esac; done
mkdir "$folder" && echo jar > "$folder/a.jar" && echo once >> "$(dirname "$0")/calls"
"""


def test_jars_are_fetched_once(tmp_path: Path) -> None:
    _maven(tmp_path, FETCH)
    folder = kafka.get(kafka.BROKER)
    assert (folder / "a.jar").exists()
    assert kafka.get(kafka.BROKER) == folder
    assert kafka.get(kafka.CONNECTOR) != folder
    assert (tmp_path / "calls").read_text().split() == ["once", "once"]


def test_two_at_once_end_with_the_same_jars(tmp_path: Path) -> None:
    of_the_other = maven._folder(kafka.WANTED / "broker.xml", "kafka-broker")
    _maven(tmp_path, f"{FETCH}\nmkdir -p {of_the_other} && echo jar > {of_the_other}/a.jar")
    assert kafka.get(kafka.BROKER) == of_the_other
    assert [jar.name for jar in of_the_other.iterdir()] == ["a.jar"]


def test_what_maven_says_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    _maven(tmp_path, "echo no such thing; exit 1")
    with pytest.raises(RuntimeError, match="no such thing"):
        kafka.get(kafka.BROKER)
    _maven(tmp_path, FETCH)
    assert (kafka.get(kafka.BROKER) / "a.jar").exists()


def test_without_maven_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maven.shutil, "which", lambda _: None)
    with pytest.raises(RuntimeError, match="apt-get install maven"):
        kafka.get(kafka.CONNECTOR)
