"""Who may read the agent's token, and where a controller of the same user finds it."""

from __future__ import annotations

import pathlib
import stat
import tempfile

import pytest

from streamjob_agent import tokens


def test_a_controller_of_the_same_user_finds_it_and_nobody_else_may_read_it() -> None:
    token, file = tokens.publish(4711)
    assert len(token) > 30
    assert tokens.find("http://127.0.0.1:4711/v1/assignment") == token
    assert tokens.find("http://127.0.0.1:4712") is None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_each_agent_has_its_own() -> None:
    first, newest = tokens.publish(4711)[0], tokens.publish(4711)[0]
    assert tokens.find("http://127.0.0.1:4711") == newest != first


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_where_others_may_write_is_not_used(
    mode: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    monkeypatch.setattr(tokens, "folders", lambda: (shared, own))
    shared.chmod(0o700)
    planted, _ = tokens.publish(4711)
    shared.chmod(mode)
    token, file = tokens.publish(4711)
    assert file.parent == own
    assert tokens.find("http://127.0.0.1:4711") == token != planted


def test_a_link_is_not_followed(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    monkeypatch.setattr(tokens, "folders", lambda: (link,))
    with pytest.raises(OSError, match="belongs to somebody else"):
        tokens.publish(4711)


def test_a_user_without_a_home_has_the_token_elsewhere(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(path: pathlib.Path) -> pathlib.Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(pathlib.Path, "expanduser", homeless)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    token, file = tokens.publish(4711)
    assert file.is_relative_to(tmp_path)
    assert tokens.find("http://127.0.0.1:4711") == token


def test_what_a_full_disk_leaves_of_a_token_is_taken_away(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: pathlib.Path, target: object) -> pathlib.Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tokens, "folders", lambda: (tmp_path / "home",))
    monkeypatch.setattr(pathlib.Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        tokens.publish(4711)
    assert list((tmp_path / "home").iterdir()) == []
