"""Compiled loops that an image brings along are used instead of compiling anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from streamjob_planners.warm import take_over


def test_what_was_brought_is_copied_and_nothing_newer_is_lost(tmp_path: Path) -> None:
    brought, kept = tmp_path / "brought", tmp_path / "kept"
    for folder, names in ((brought, ("a/one", "a/two")), (kept, ("a/two",))):
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(folder.name)
    take_over(brought, kept)
    take_over(brought, kept)
    found = {str(file.relative_to(kept)): file.read_text() for file in kept.rglob("*") if file.is_file()}
    assert found == {"a/one": "brought", "a/two": "kept"}


def test_brought_loops_are_not_compiled_again(tmp_path: Path) -> None:
    # A module of its own: the planners' loops would take a minute.
    (tmp_path / "loops.py").write_text("import numba\n\n@numba.njit(cache=True)\ndef one():\n    return 1\n")
    brought, kept = tmp_path / "brought", tmp_path / "kept"

    def run(code: str, cache: Path) -> str:
        environ = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(tmp_path)}
        environ |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    run("import loops; loops.one()", brought)
    take_over(brought, kept)
    assert run("import loops; loops.one(); print(sum(loops.one.stats.cache_hits.values()))", kept) == "1"
