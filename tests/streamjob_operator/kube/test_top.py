"""`kubectl streamjob top --watch`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from streamjob_operator.kube.kubectl import cli


def test_what_is_watched_takes_text_for_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bracket in a status, as of a job from a backup, ended the command with rich's own error."""
    job = {"metadata": {"name": "orders", "namespace": "streams"}, "status": {"lastCycle": {"reason": "[/Held]"}}}
    session = SimpleNamespace(api=SimpleNamespace(list=lambda *_: [job]), namespace="streams")
    monkeypatch.setattr(cli, "Session", lambda *_: session)

    def interrupted(_: float) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.time, "sleep", interrupted)
    done = CliRunner().invoke(cli.main, ["top", "--watch"])
    assert (done.exit_code, done.stderr) == (0, "")  # Ctrl-C is how it is asked to end
    assert "[/Held]" in done.output


def test_what_is_watched_without_a_terminal_is_written_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """As into a file or another program, which got nothing before the end."""
    seen: list[int] = []
    session = SimpleNamespace(api=SimpleNamespace(list=lambda *_: seen.append(1) or []), namespace="streams")
    monkeypatch.setattr(cli, "Session", lambda *_: session)

    def third_is_the_last(_: float) -> None:
        if len(seen) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(cli.time, "sleep", third_is_the_last)
    done = CliRunner().invoke(cli.main, ["top", "--watch"])
    assert (done.exit_code, done.output.count("namespace")) == (0, 3)
