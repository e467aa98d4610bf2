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
    assert isinstance(done.exception, SystemExit)  # of Ctrl-C
    assert "[/Held]" in done.output
