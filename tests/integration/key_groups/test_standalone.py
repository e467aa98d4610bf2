"""`streamjob run` gives a real query the key groups that its StreamJob asks for, and loses no row over it."""

from __future__ import annotations

import collections
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

JOB = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {{name: totals}}
spec:
  application:
    mainFile: {script}
    args: [input, output]
    checkpoint: checkpoint
    sparkConf:
      spark.master: local-cluster[1,1,1024]
      spark.sql.shuffle.partitions: "4"
      spark.ui.enabled: "false"
  executors: {{min: 1, max: 1}}
  balancing:
    statisticsPeriod: 2s
    keyGroups: {{count: 8}}
"""
LONGEST_S = 600.0


class Feed:
    """Files of rows, one a batch, and what their totals are."""

    def __init__(self, folder: Path, results: Path) -> None:
        self._folder, self._results = folder, results
        self.files = 0
        self.totals: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
        folder.mkdir()

    def keep_up(self) -> None:
        """One file waits beside the one that is being read."""
        if self.files < len(list(self._results.glob("[0-9]*.json"))) + 2:
            self.add()

    def add(self) -> None:
        rows = [(f"k{(7 * one + self.files) % 23}", one + 100 * self.files) for one in range(60)]
        draft = self._folder.parent / "draft"
        draft.write_text("".join(json.dumps({"k": key, "v": value}) + "\n" for key, value in rows))
        draft.rename(self._folder / f"{self.files:05d}.json")
        self.files += 1
        for key, value in rows:
            self.totals[key] = [self.totals[key][0] + 1, self.totals[key][1] + value]


def results(folder: Path) -> dict[str, list[int]]:
    """The newest total of each key."""
    found: dict[str, list[int]] = {}
    for one in sorted(folder.glob("[0-9]*.json"), key=lambda path: int(path.stem)):
        found |= json.loads(one.read_text())
    return found


def until(holds: Callable[[], bool], feed: Feed | None, run: subprocess.Popen[bytes], log: Path) -> None:
    """Rows keep coming meanwhile, as fast as they are taken."""
    deadline_s = time.monotonic() + LONGEST_S
    while not holds():
        assert run.poll() is None, log.read_text()
        assert time.monotonic() < deadline_s, log.read_text()
        if feed is not None:
            feed.keep_up()
        time.sleep(0.2)


def test_a_streamjob_that_asks_for_eight_key_groups_gets_them(tmp_path: Path) -> None:
    output, log = tmp_path / "output", tmp_path / "log"
    output.mkdir()
    feed = Feed(tmp_path / "input", output)
    (tmp_path / "job.yaml").write_text(JOB.format(script=Path(__file__).with_name("totals.py")))
    words = [sys.executable, "-c", "from streamjob_cli.main import main; main()", "run", "job.yaml"]
    with log.open("wb") as file:
        run = subprocess.Popen(words, cwd=tmp_path, stdout=file, stderr=file, env=dict(os.environ))
    try:
        until(lambda: "The state is spread over 8 key groups" in log.read_text(), feed, run, log)
        before = feed.files
        until(lambda: feed.files > before + 1, feed, run, log)
        until(lambda: results(output) == feed.totals, None, run, log)
        run.send_signal(signal.SIGINT)
        assert run.wait(LONGEST_S) == 0, log.read_text()
    finally:
        if run.poll() is None:  # ended in order, so that it takes its driver with it
            run.send_signal(signal.SIGINT)
            run.wait(120)
    groups = {one.name for one in (tmp_path / "checkpoint" / "state" / "0").iterdir() if one.name.isdigit()}
    assert groups == {str(group) for group in range(8)}
    assert results(output) == feed.totals
