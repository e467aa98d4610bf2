"""docs/scaling.md: every command in it prints what stands below it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from streamjob_cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "scaling.md"
PROMPT = "    $ streamjob "
WIDTH = "140"


def blocks() -> list[tuple[str, list[str]]]:
    """Each command, and the indented lines below it."""
    found: list[tuple[str, list[str]]] = []
    inside = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith(PROMPT):
            found.append((line.removeprefix(PROMPT), []))
            inside = True
        elif inside and line.startswith("    "):
            found[-1][1].append(line.strip())
        elif line:
            inside = False
    return found


def printed(command: str) -> list[str]:
    arguments = [str(ROOT / one) if one.startswith("samples/") else one for one in command.split()]
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": WIDTH})
    assert result.exit_code in (0, 1), result.output
    return [line.strip() for line in result.output.splitlines() if line.strip()]


def test_there_are_commands_with_their_output() -> None:
    assert len(blocks()) == 3
    assert all(len(lines) > 3 for _, lines in blocks())


@pytest.mark.parametrize(("command", "lines"), blocks())
def test_what_stands_below_a_command_is_what_it_prints(command: str, lines: list[str]) -> None:
    assert lines == printed(command)


def test_the_sums_by_hand_are_those_of_the_table() -> None:
    """The text's own figures: 5.5 s for 4 executors, 8 s for 3, and 5.5 s for 5."""
    rows = [line.split("│") for line in blocks()[0][1] if line.startswith("│") and line.count("│") > 4]
    told = {int(row[1].split()[0]): float(row[7].split()[0]) for row in rows}
    assert told == {3: pytest.approx(8.0, abs=0.05), 4: pytest.approx(5.5, abs=0.05), 5: pytest.approx(5.5, abs=0.05)}
