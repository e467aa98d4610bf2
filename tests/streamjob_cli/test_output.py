"""Where the output of a command may go."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SNAPSHOT = Path(__file__).parents[2] / "samples" / "snapshots" / "steady.json"


def ended(words: str, shell: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -c 'from streamjob_cli.main import main; main()' {words} {shell}"
    return subprocess.run(
        command, shell=True, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_what_the_encoding_lacks_is_written_in_other_letters() -> None:
    """As in a locale without them; it ended in a traceback."""
    done = ended(f"explain --from {SNAPSHOT}", "", PYTHONIOENCODING="ascii")
    assert (done.returncode, r"\xb5s" in done.stdout, done.stderr) == (0, True, "")


@pytest.mark.parametrize("words", ["planners --json", "planners"])
def test_a_full_disk_is_told(words: str) -> None:
    done = ended(words, "> /dev/full")
    assert (done.returncode, done.stderr) == (1, "Error: The output cannot be written: No space left on device.\n")


def test_a_reader_that_hangs_up_and_none_at_all_are_no_mistake() -> None:
    assert ended("planners", "| head -1").stderr == ""
    assert ended("planners", ">&-").stderr == ""
