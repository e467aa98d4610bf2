"""`streamjob run` gives a real query the key groups that its StreamJob asks for, and loses no row over it."""

from __future__ import annotations

import collections
import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark


class Totals:
    """Files of rows, one a batch, and what their totals are."""

    def __init__(self, folder: Path, results: Path) -> None:
        self._folder, self._results = folder, results
        self.files = 0
        self._totals: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
        folder.mkdir()
        results.mkdir()

    def keep_up(self) -> None:
        """One file waits beside the one that is being read."""
        if self.files < len(list(self._results.glob("[0-9]*.json"))) + 2:
            self._add()

    def exact(self) -> bool:
        """The newest total of each key is right."""
        found: dict[str, list[int]] = {}
        for one in sorted(self._results.glob("[0-9]*.json"), key=lambda path: int(path.stem)):
            found |= json.loads(one.read_text())
        return found == self._totals

    def _add(self) -> None:
        rows = [(f"k{(7 * one + self.files) % 23}", one + 100 * self.files) for one in range(60)]
        draft = self._folder.parent / "draft"
        draft.write_text("".join(json.dumps({"k": key, "v": value}) + "\n" for key, value in rows))
        draft.rename(self._folder / f"{self.files:05d}.json")
        self.files += 1
        for key, value in rows:
            self._totals[key] = [self._totals[key][0] + 1, self._totals[key][1] + value]


def test_a_streamjob_that_asks_for_eight_key_groups_gets_them(
    tmp_path: Path, spread_over_eight: Callable[..., None]
) -> None:
    script = str(Path(__file__).with_name("totals.py"))
    application = {"mainFile": script, "args": ["input", "output"]}
    spread_over_eight(application, Totals(tmp_path / "input", tmp_path / "output"))
