"""The input of a row's program: files are read in the order in which they were written."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from e2e.compatibility.running import Running


def test_files_that_are_written_at_once_have_an_order_to_the_millisecond_as_spark_looks_at_it(tmp_path: Path) -> None:
    running = Running(tmp_path, {}, "program", agent=False, feeds=True)
    running.write(20)
    running.end()
    written = [path.stat().st_mtime_ns // 1_000_000 for path in sorted((tmp_path / "input").iterdir())]
    assert written == sorted(set(written))
