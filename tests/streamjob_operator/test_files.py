"""Files that a person names on a command line."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from streamjob_operator.files import keep, trouble, write_whole


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


def test_where_a_link_leads_is_written_to_and_the_link_stays(tmp_path: Path) -> None:
    """A file took the link's place, and what it leads to kept the old text."""
    (tmp_path / "versions").mkdir()
    kept, link = tmp_path / "versions" / "kept", tmp_path / "link"
    kept.write_text("old")
    link.symlink_to(Path("versions") / "kept")
    write_whole(link, "new")
    assert (link.is_symlink(), kept.read_text(), link.read_text()) == (True, "new", "new")


def test_who_may_read_a_file_stays_as_it_was(tmp_path: Path) -> None:
    """Whatever the umask gives, everybody could read what was for its owner alone."""
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o600)
    write_whole(path, "new")
    assert (stat.S_IMODE(path.stat().st_mode), path.read_text()) == (0o600, "new")


@pytest.mark.parametrize("unreachable", ["source", "target"])
def test_a_file_that_cannot_be_looked_for_is_told_by_whoever_reads_or_writes_it(
    tmp_path: Path, unreachable: str
) -> None:
    """One in a folder that is closed to the person, or with too long a name, ended the command with a traceback."""
    paths = {"source": tmp_path / "file", "target": tmp_path / "file"} | {unreachable: tmp_path / ("x" * 300)}
    (tmp_path / "file").touch()
    keep(paths["source"], "--out", paths["target"])


def test_an_open_file_that_a_device_stands_for_is_written_to(tmp_path: Path) -> None:
    """As /dev/stdout, where a shell has sent the output to a file: another one was put in the place of the device."""
    with (tmp_path / "output").open("w+") as output:
        write_whole(Path(f"/dev/fd/{output.fileno()}"), "all")
        assert output.read() == "all"
    assert [one.name for one in tmp_path.iterdir()] == ["output"]


def test_an_error_without_a_file_is_told_with_the_one_that_was_written() -> None:
    assert trouble(Path("a"), OSError(28, "No space left on device")) == "a: No space left on device."
    assert trouble(Path("a/b"), NotADirectoryError(20, "Not a directory", "a")) == "a: Not a directory."
