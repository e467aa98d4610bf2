"""Who leaves, by the agent's states of executors and a file that asks."""

from __future__ import annotations

import random
from pathlib import Path

from jobs.drain import Drain

READY = {"1": "ready", "2": "ready", "3": "ready"}


def drain(folder: Path) -> Drain:
    return Drain(folder / "drain", random.Random(1))


def test_nobody_leaves_who_was_not_asked(tmp_path: Path) -> None:
    one = drain(tmp_path)
    assert not one.look(READY)
    assert (one.leaving, one.target) == ((), None)


def test_one_leaves_and_the_file_goes_once_it_was_let_go(tmp_path: Path) -> None:
    one, asked = drain(tmp_path), tmp_path / "drain"
    asked.touch()
    assert one.look(READY)
    (leaver,) = one.leaving
    for state in ("ready", "draining"):
        assert not one.look({**READY, leaver: state})
        assert one.leaver == leaver
        assert asked.exists()
    assert not one.look({**READY, leaver: "leaving"})
    assert not asked.exists()
    assert (one.leaving, one.target) == ((), 3)  # another one is to come in its place


def test_one_that_dies_before_it_was_let_go_was_not_drained(tmp_path: Path) -> None:
    one = drain(tmp_path)
    (tmp_path / "drain").touch()
    one.look(READY)
    (leaver,) = one.leaving
    assert one.look({**READY, leaver: "dead"})
    assert one.leaver not in (None, leaver)
    assert one.target == 3
    assert (tmp_path / "drain").exists()


def test_the_last_one_does_not_leave(tmp_path: Path) -> None:
    one = drain(tmp_path)
    (tmp_path / "drain").touch()
    assert not one.look({"1": "ready", "2": "dead"})
    assert one.look(READY)
