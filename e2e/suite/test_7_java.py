"""A Java job that StreamJob starts by its jar and class: an executor drained, suspended and gone on, exact."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.compatibility import answers, java_job, lines, submitted
from e2e.compatibility.lines import Line
from e2e.suite.evidence import Sayer
from e2e.suite.feed import Feed
from e2e.suite.job import Job, Status, condition
from e2e.suite.world import World, filled

NAME = "counts"
START_S, BATCH_S, DRAIN_S, STOP_S = 240.0, 120.0, 240.0, 120.0


class Counts:
    """The job, with the lines that it has been given."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._given: list[Line] = []

    def write(self) -> None:
        """A file more."""
        number = len(list((self.job.volume / "input").iterdir()))
        given = lines.lines(number)
        draft = self.job.volume / "draft"
        draft.write_text(lines.text(given))
        draft.chmod(0o644)
        draft.rename(self.job.volume / f"input/{number}.csv")
        self._given += given

    def right(self) -> bool:
        """Whether what it has said is the answer to all lines, each counted once."""
        return java_job.rows(self.job.volume / "said") == answers.counts(self._given)

    def until_right(self) -> int:
        """Wait until it has answered; the number of lines."""
        self.job.until(lambda _: self.right(), BATCH_S, "every line counted once")
        return len(self._given)


@pytest.fixture(scope="module")
def counts(installed: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counts]:
    """Submitted, with one file to read."""
    jars = tmp_path_factory.mktemp("jars")
    submitted.have_jars_made(jars)
    kubectl = installed.namespace(NAME)
    volume = installed.volume(kubectl, NAME)
    kubectl.apply(_binary("app", jars / submitted.JOB))
    one = Counts(Job(kubectl, volume, Feed(volume), NAME))
    one.write()
    kubectl("apply", "-f", "-", text=filled("counts.yaml", AGENT_IMAGE=installed.images.agent))
    yield one
    kubectl("delete", "streamjob", NAME, "--ignore-not-found", "--wait=false")


def _binary(name: str, file: Path) -> dict[str, object]:
    data = {file.name: base64.b64encode(file.read_bytes()).decode()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "binaryData": data}


def test_a_java_job_starts_as_pods_and_gets_ready(counts: Counts, say: Sayer) -> None:
    counts.job.until(lambda one: condition(one, "Ready").startswith("True"), START_S, "Ready")
    say(f"{counts.until_right()} lines exact")


def test_an_executor_of_a_java_job_is_drained(counts: Counts, say: Sayer) -> None:
    before = counts.job.pods("executor")
    counts.job.patch({"executors": {"min": 1, "max": 1}})

    def drained(_: Status) -> bool:
        if counts.right():  # one file at a time: each is a batch
            counts.write()
        return len(counts.job.pods("executor")) == 1

    counts.job.until(drained, DRAIN_S, "one executor")
    exact = counts.until_right()
    assert set(counts.job.pods("executor")) < set(before)
    assert counts.job.failed_tasks() == ()
    say(f"{exact:,} lines exact, no task failed")


def test_a_java_job_is_suspended_and_goes_on(counts: Counts, say: Sayer) -> None:
    counts.job.patch({"suspend": True})
    ended = counts.job.until(lambda one: one["phase"] == "Suspended" and not counts.job.pods("driver"), STOP_S, "gone")
    counts.write()
    counts.job.patch({"suspend": False})
    counts.job.until(lambda one: condition(one, "Ready").startswith("True"), START_S, "Ready again")
    say(f"{counts.until_right():,} lines exact; {ended['phase']} before")
