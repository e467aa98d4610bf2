"""`streamjob run` as a person has it: a process of its own in the folder of a StreamJob that wants eight key groups."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

LONGEST_S = 600.0
CHECKPOINT = "checkpoint"
SPARK = {"spark.master": "local-cluster[1,1,1024]", "spark.sql.shuffle.partitions": "4", "spark.ui.enabled": "false"}


class Feed(Protocol):
    """What a job reads, and whether all that it has said of it is right."""

    files: int

    def keep_up(self) -> None:
        """One file waits beside the one that is being read."""

    def exact(self) -> bool:
        """Of all files."""


class Run:
    """`streamjob run job.yaml`, and what it has said."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        words = [sys.executable, "-c", "from streamjob_cli.main import main; main()", "run", "job.yaml"]
        with self._log.open("wb") as file:
            self._process = subprocess.Popen(words, cwd=folder, stdout=file, stderr=file, env=dict(os.environ))

    def until(self, holds: Callable[[], bool], feed: Feed | None) -> None:
        """Wait until it holds, as long as the run goes on; rows keep coming meanwhile, as fast as they are taken."""
        deadline_s = time.monotonic() + LONGEST_S
        while not holds():
            assert self._process.poll() is None, self.said()
            assert time.monotonic() < deadline_s, self.said()
            if feed is not None:
                feed.keep_up()
            time.sleep(0.2)

    def said(self) -> str:
        """All that it has printed."""
        return self._log.read_text()

    def end(self) -> None:
        """As by Ctrl-C; nothing went wrong."""
        self._process.send_signal(signal.SIGINT)
        assert self._process.wait(LONGEST_S) == 0, self.said()

    def close(self) -> None:
        """Where a test broke off: in order, so that it takes its driver with it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(120)


@pytest.fixture
def spread_over_eight(tmp_path: Path) -> Iterator[Callable[[Mapping[str, Any], Feed], None]]:
    """Run an application of the test's folder until its state has eight key groups, not four, and it is exact."""
    begun: list[Run] = []

    def spread(application: Mapping[str, Any], feed: Feed) -> None:
        (tmp_path / "job.yaml").write_text(json.dumps(job(application)))
        begun.append(run := Run(tmp_path))
        run.until(lambda: "The state is spread over 8 key groups" in run.said(), feed)
        before = feed.files
        run.until(lambda: feed.files > before + 1, feed)
        run.until(feed.exact, None)
        run.end()
        groups = {one.name for one in (tmp_path / CHECKPOINT / "state" / "0").iterdir() if one.name.isdigit()}
        assert groups == {str(group) for group in range(8)}
        assert feed.exact()

    yield spread
    for one in begun:
        one.close()


def job(application: Mapping[str, Any]) -> dict[str, Any]:
    """The StreamJob."""
    return {
        "apiVersion": "streamjob.dev/v1alpha1",
        "kind": "StreamJob",
        "metadata": {"name": "totals"},
        "spec": {
            "application": {**application, "checkpoint": CHECKPOINT, "sparkConf": SPARK},
            "executors": {"min": 1, "max": 1},
            "balancing": {"statisticsPeriod": "2s", "keyGroups": {"count": 8}},
        },
    }
