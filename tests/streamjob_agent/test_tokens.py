"""Who may read the agent's token, and where a controller of the same user finds it."""

from __future__ import annotations

import pathlib
import stat

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
