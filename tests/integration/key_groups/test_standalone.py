"""`streamjob run` gives a real query the key groups that its StreamJob asks for, and loses no row over it."""

from __future__ import annotations

import collections
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def test_a_streamjob_that_asks_for_eight_key_groups_gets_them(tmp_path: Path, run: Callable[[], Any]) -> None:
    output = tmp_path / "output"
    output.mkdir()
    feed = Feed(tmp_path / "input", output)
    (tmp_path / "job.yaml").write_text(JOB.format(script=Path(__file__).with_name("totals.py")))
    job = run()

    def spread() -> bool:
        feed.keep_up()
        return "The state is spread over 8 key groups" in job.said()

    def one_more(before: int) -> bool:
        feed.keep_up()
        return feed.files > before + 1

    job.until(spread)
    job.until(functools.partial(one_more, feed.files))
    job.until(lambda: results(output) == feed.totals)
    job.end()
    groups = {one.name for one in (tmp_path / "checkpoint" / "state" / "0").iterdir() if one.name.isdigit()}
    assert groups == {str(group) for group in range(8)}
    assert results(output) == feed.totals
