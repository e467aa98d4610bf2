"""The control groups of a further node, on folders that look like both versions of the kernel's."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.cluster import cgroups


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    for controller in ("cpuset", "memory"):
        (tmp_path / controller).mkdir()
        (tmp_path / controller / "tasks").touch()
    (tmp_path / "cpuset" / "cpuset.cpus").write_text("0-1\n")
    (tmp_path / "cpuset" / "cpuset.mems").write_text("0\n")
    (tmp_path / "unified").mkdir()
    (tmp_path / "link").symlink_to("memory")
    return tmp_path


def test_version_1_has_a_group_below_each_controller_that_takes_processes(version_1: Path) -> None:
    cgroups.make("two", version_1)
    assert sorted(str(one.relative_to(version_1)) for one in version_1.rglob("two")) == ["cpuset/two", "memory/two"]
    assert (version_1 / "cpuset" / "two" / "cpuset.cpus").read_text() == "0-1\n"
    assert (version_1 / "cpuset" / "two" / "cpuset.mems").read_text() == "0\n"
    cgroups.make("two", version_1)  # again after a crash


def test_version_2_has_one_group(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    (tmp_path / "user.slice").mkdir()
    cgroups.make("two", tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_dir()) == ["two", "user.slice"]


def test_groups_go_deepest_first_and_those_of_others_stay(version_1: Path) -> None:
    cgroups.make("two", version_1)
    (version_1 / "memory" / "two" / "kubepods" / "pod").mkdir(parents=True)
    (version_1 / "unified" / "two" / "kubepods").mkdir(parents=True)
    (version_1 / "memory" / "another").mkdir()
    for file in version_1.glob("cpuset/two/*"):  # the kernel's own files go with their group
        file.unlink()
    cgroups.remove("two", version_1)
    assert list(version_1.rglob("two")) == []
    assert (version_1 / "memory" / "another").exists()
