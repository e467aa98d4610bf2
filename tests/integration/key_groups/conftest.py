"""`streamjob run` as a person has it: a process of its own in the folder of its StreamJob."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

LONGEST_S = 600.0


class Run:
    """`streamjob run job.yaml`, and what it has said."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        words = [sys.executable, "-c", "from streamjob_cli.main import main; main()", "run", "job.yaml"]
        with self._log.open("wb") as file:
            self._process = subprocess.Popen(words, cwd=folder, stdout=file, stderr=file, env=dict(os.environ))

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until it holds, as long as the run goes on."""
        deadline_s = time.monotonic() + LONGEST_S
        while not holds():
            assert self._process.poll() is None, self.said()
            assert time.monotonic() < deadline_s, self.said()
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
def run(tmp_path: Path) -> Iterator[Callable[[], Run]]:
    """Begin a run of the test's folder."""
    begun: list[Run] = []

    def begin() -> Run:
        begun.append(Run(tmp_path))
        return begun[-1]

    yield begin
    for one in begun:
        one.close()
