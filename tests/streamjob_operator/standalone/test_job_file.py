"""What a person edits while the job runs: it counts, or a sentence says why it does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from streamjob_operator.spec import Mode, StreamJob, parse_job
from streamjob_operator.standalone.job_file import JobFile

TEXT = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: edited}
spec:
  application: {mainFile: job.py}
  executors: {min: 2, max: 4}
  balancing: {mode: Recommend, statisticsPeriod: 30s}
"""


class Edited:
    """A file, and what was said of its edits."""

    def __init__(self, folder: Path) -> None:
        self.path, self.said, self._writings = folder / "job.yaml", list[str](), 0
        self.write(TEXT)
        self.file = JobFile(self.path, parse_job(TEXT), self.said.append)

    def write(self, text: str) -> None:
        """Each writing is a second later than the one before, however coarse the clock of the disk."""
        self._writings += 1
        self.path.write_text(text)
        os.utime(self.path, (self._writings, self._writings))


@pytest.fixture
def edited(tmp_path: Path) -> Edited:
    return Edited(tmp_path)


def test_nothing_is_said_of_a_file_that_is_as_it_was(edited: Edited) -> None:
    before = edited.file.newest()
    edited.write(TEXT)
    assert edited.file.newest() == before
    assert (edited.file.edits, edited.said) == (0, [])


def test_an_edited_policy_counts_from_then_on_and_is_told_once(edited: Edited) -> None:
    edited.write(TEXT.replace("Recommend", "Auto").replace("max: 4", "max: 9"))
    job = edited.file.newest()
    assert (job.spec.balancing.mode, job.spec.executors.max) == (Mode.AUTO, 9)
    assert edited.file.newest() is job
    assert (edited.file.edits, len(edited.said)) == (1, 1)
    assert "it counts from now on" in edited.said[0]


def test_an_annotation_approves_and_pauses_while_the_job_runs(edited: Edited) -> None:
    edited.write(TEXT.replace("{name: edited}", "{name: edited, annotations: {streamjob.dev/approve: 0123456789ab}}"))
    assert edited.file.newest().approved_plan == "0123456789ab"
    edited.write(TEXT.replace("{name: edited}", "{name: edited, annotations: {streamjob.dev/pause: 'true'}}"))
    assert (edited.file.newest().paused, edited.file.newest().approved_plan) == (True, None)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("job.py", "another.py", "spec.application cannot change while the job runs"),
        ("name: edited", "name: renamed", "metadata cannot change while the job runs"),
        ("min: 2", "min: two", "executors.min"),
        ("kind:", "  kind:", "This is not YAML"),
        ("min: 2", "min: {{ two }}", "a map or a list cannot be a field's name"),
        ("min: 2", f"min: {'9' * 5000}", "a number of 5,000 characters given"),
        ("min: 2", f"min: {'[' * 5000}", "nested too deeply"),
    ],
)
def test_an_edit_that_cannot_be_used_is_left_alone_as_a_whole(edited: Edited, old: str, new: str, why: str) -> None:
    edited.write(TEXT.replace("Recommend", "Auto").replace(old, new))
    assert edited.file.newest().spec.balancing.mode is Mode.RECOMMEND
    assert edited.file.edits == 0
    (sentence,) = edited.said
    assert why in sentence
    edited.write(TEXT.replace("Recommend", "Auto"))
    assert edited.file.newest().spec.balancing.mode is Mode.AUTO


def test_whatever_else_reading_an_edit_runs_into_ends_nothing(edited: Edited, monkeypatch: pytest.MonkeyPatch) -> None:
    def chokes(_: Path) -> StreamJob:
        raise MemoryError("no room")

    monkeypatch.setattr("streamjob_operator.standalone.job_file.read_job", chokes)
    edited.write(TEXT.replace("Recommend", "Auto"))
    assert edited.file.newest().spec.balancing.mode is Mode.RECOMMEND
    assert "It cannot be read: MemoryError: no room." in edited.said[0]


def test_a_file_that_is_gone_changes_nothing(edited: Edited) -> None:
    edited.path.unlink()
    assert edited.file.newest() == parse_job(TEXT)
    assert edited.said == []
