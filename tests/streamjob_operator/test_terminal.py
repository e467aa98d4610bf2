"""What is printed into a pipe is not cut to the width of a terminal that is not there."""

from __future__ import annotations

import pytest
from rich.table import Table

from streamjob_operator.terminal import console

LONG = "a-job-with-a-name-" * 4


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    table = Table("job", "what it does")
    table.add_row(LONG, "b" * 60)
    console().print(table)
    return capsys.readouterr().out


def test_names_are_whole_in_a_pipe(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert LONG in printed(capsys)


def test_a_person_may_ask_for_less(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert max(len(line) for line in printed(capsys).splitlines()) <= 60
