"""What the files say about how far a change has come."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from local_files import LocalFiles
from small_spark import made

from streamjob_agent.repartition.journal import (
    Direction,
    Journal,
    Seen,
    Stage,
    barrier_text,
    read_barrier,
    read_journal,
    stage,
)
from streamjob_agent.repartition.logs import look, numbers, read_settings, state_format

JOURNAL = Journal(batch=6, key_groups_before=4, key_groups=8)
SEEN = Seen(room=True, old_state=True, barrier=None, batch=7, committed=7)


@pytest.mark.parametrize(
    ("journal", "other", "expected"),
    [
        (None, {"room": False}, Stage.NONE),
        (None, {}, Stage.DRAFT),
        (JOURNAL, {"old_state": False, "batch": 6, "committed": 6}, Stage.DRAFT),
        (JOURNAL, {"barrier": Direction.FORWARD}, Stage.HALFWAY),
        (None, {"barrier": Direction.BACK}, Stage.HALFWAY),
        (JOURNAL, {}, Stage.WAITING),
        (JOURNAL, {"batch": 8}, Stage.BEGUN),
        (JOURNAL, {"batch": 8, "committed": 8}, Stage.DONE),
        (JOURNAL, {"batch": 20, "committed": 19}, Stage.DONE),
    ],
)
def test_the_stage_is_what_the_files_say(journal: Journal | None, other: dict[str, Any], expected: Stage) -> None:
    assert stage(journal, dataclasses.replace(SEEN, **other)) is expected


def test_a_journal_reads_as_it_was_written() -> None:
    assert read_journal(JOURNAL.text()) == JOURNAL


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"batch": 6}', JOURNAL.text()[:-3]])
def test_half_a_journal_is_none(text: str) -> None:
    assert read_journal(text) is None


@pytest.mark.parametrize("direction", list(Direction))
def test_a_barrier_says_which_way_to_go_on(direction: Direction) -> None:
    assert read_barrier(barrier_text(direction)) is direction


@pytest.mark.parametrize("text", ["", "v1\n{}", "v99999", "v99999\n", 'v99999\n{"direction": "up"}', "v99999\n[]"])
def test_another_file_is_no_barrier(text: str) -> None:
    assert read_barrier(text) is None


def test_a_barrier_is_no_batch(tmp_path: Path) -> None:
    root = made(tmp_path / "checkpoint", {"a": 1})
    (root / "offsets" / "8").write_text(barrier_text(Direction.BACK))
    seen = look(LocalFiles(), str(root))
    assert seen == Seen(room=False, old_state=False, barrier=Direction.BACK, batch=6, committed=6)


def test_names_that_are_no_numbers_are_left_out() -> None:
    assert numbers([".6.crc", "10", "9", "_metadata", "7.tmp", "²"]) == (9, 10)


@pytest.mark.parametrize("text", ["", "v1", "v1\nnot", "v1\n{}", 'v1\n{"conf": 1}', 'v1\n{"conf": {"a": "1"}}'])
def test_a_plan_that_says_nothing_of_key_groups(text: str) -> None:
    assert read_settings(text).key_groups is None
    assert read_settings(text).provider == ""


def test_the_form_of_a_checkpoint_is_its_first_line() -> None:
    assert state_format('v2\n{"nextBatchWatermarkMs":0}') == "2"
    assert state_format("v1\n{}") == "1"
