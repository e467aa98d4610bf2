"""Files that are written whole: the old text or the new one, for the user alone, and no draft is left."""

from __future__ import annotations

import os
import pathlib
import stat
from collections.abc import Callable

import pytest

from streamjob_agent import drafts
from streamjob_agent.drafts import write_whole


def test_a_file_is_there_whole_and_nothing_beside_it(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    assert write_whole(path, "old") == path
    write_whole(path, "ñew", lasting=True)
    assert path.read_text(encoding="utf-8") == "ñew"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_it_is_for_the_user_alone_whatever_was_there_before(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o666)
    write_whole(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_only_a_lasting_one_waits_for_the_disk(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []
    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, "fsync", lambda _: waited.append((tmp_path / "file").read_text()))
    write_whole(tmp_path / "file", "new")
    assert not waited
    write_whole(tmp_path / "file", "newer", lasting=True)
    assert waited == ["new"], "the disk has it before it has its name"


def raising(error: BaseException) -> Callable[[int], None]:
    def fail(_: int) -> None:
        raise error

    return fail


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_no_draft(
    error: BaseException, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")
    monkeypatch.setattr(drafts.os, "fsync", raising(error))
    with pytest.raises(type(error)):
        write_whole(path, "new", lasting=True)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_stands_in_its_place_is_left_and_told(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="file"):
        write_whole(tmp_path / "file", "new")
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_is_missing_is_told(tmp_path: pathlib.Path) -> None:
    with pytest.raises(OSError, match="missing"):
        write_whole(tmp_path / "missing" / "file", "new")
