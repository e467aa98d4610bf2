"""What is printed into a pipe is not cut to the width of a terminal that is not there."""

from __future__ import annotations

import pytest
from rich.table import Table
from rich.text import Text

from streamjob_operator.terminal import console
from streamjob_operator.unsteered import unsteered

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


def test_what_others_wrote_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Square brackets are no markup, and nothing that a job's agent says steers a person's terminal."""
    table = Table("job", title="[red]title")
    table.add_row("sparkConf[spark.x] [/red] :smile:")
    table.add_row(Text("\x1b[2Jgone \x9b31m \u202edesrever \x07"))
    console().print(table)
    out = capsys.readouterr().out
    assert "[red]title" in out
    assert "sparkConf[spark.x] [/red] :smile:" in out
    assert not set(out) & set("\x1b\x9b\u202e\x07")
    assert "\ufffd[2Jgone" in out


def test_text_of_any_language_stays() -> None:
    assert unsteered("naïve 東京 \xa0 x\n") == "naïve 東京 \xa0 x\n"


@pytest.mark.parametrize("columns", ["0", "wide", ""])
def test_a_width_that_is_none_hides_nothing(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of no columns all was cut, as some terminals without a size say it."""
    monkeypatch.setenv("COLUMNS", columns)
    console().print("all of it")
    assert capsys.readouterr().out == "all of it\n"
