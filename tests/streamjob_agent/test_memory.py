"""What is remembered on disk over a restart of the driver, and what one bad file costs: itself."""

from __future__ import annotations

import pathlib

import pytest

from streamjob_agent.memory import AssignmentMemory
from streamjob_agent.wire import Assignment


def assignment(query_id: str) -> Assignment:
    return Assignment(generation=1, application_id="app", query_id=query_id, owners={0: ("1", "2")})


@pytest.fixture
def memory(tmp_path: pathlib.Path) -> AssignmentMemory:
    found = AssignmentMemory(str(tmp_path))
    for query_id in ("one", "other"):
        found.save(assignment(query_id))
    return found


def test_every_query_is_remembered(memory: AssignmentMemory) -> None:
    assert {one.query_id for one in memory.all()} == {"one", "other"}
    assert memory.load("one") == assignment("one")
    assert memory.load("third") is None


@pytest.mark.parametrize("bad", ["folder", "link to nowhere", "half"])
def test_a_file_that_cannot_be_read_costs_no_other_querys_placement(
    bad: str, memory: AssignmentMemory, tmp_path: pathlib.Path
) -> None:
    path = memory._path("one")
    text = path.read_bytes()
    path.unlink()
    if bad == "folder":
        path.mkdir()
    elif bad == "half":
        path.write_bytes(text[: len(text) // 2])
    else:
        path.symlink_to(tmp_path / "nowhere")
    assert [one.query_id for one in memory.all()] == ["other"]
    assert memory.load("one") is None
