"""Files that a person names on a command line."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from streamjob_operator.files import trouble, write_whole


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    """A file was put in the place of what the person named: of /dev/null, where it may."""
    pipe, found = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "all")
    reader.join(timeout=60)
    assert (found, pipe.is_fifo()) == (["all"], True)


def test_nothing_is_left_of_a_file_that_could_not_be_put_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "there", "all")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "other", "\ud800")
    assert [one.name for one in tmp_path.iterdir()] == ["there"]


def test_an_error_without_a_file_is_told_with_the_one_that_was_written() -> None:
    assert trouble(Path("a"), OSError(28, "No space left on device")) == "a: No space left on device."
    assert trouble(Path("a/b"), NotADirectoryError(20, "Not a directory", "a")) == "a: Not a directory."
