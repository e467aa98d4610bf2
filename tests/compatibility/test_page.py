"""The compatibility table's page and what it is made of."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))

from e2e.compatibility import page, rows
from e2e.compatibility.__main__ import main
from e2e.compatibility.outcome import Outcome

GOOD = Outcome(
    row="timers", spark="4.3.0", java="17.0.1", day="2026-01-01", took_s=50.0, told=("12 moves", "one drained")
)


def test_outcomes_are_read_as_they_were_kept(tmp_path: Path) -> None:
    bad = dataclasses.replace(GOOD, spark="4.0.5", wrong=("timers: 3 rows are right, 2 were found",))
    page.keep(GOOD, tmp_path)
    page.keep(bad, tmp_path)
    assert page.read(tmp_path) == {("timers", "4.3.0"): GOOD, ("timers", "4.0.5"): bad}


def table(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def test_every_row_is_in_the_table_and_newest_spark_comes_first() -> None:
    old = dataclasses.replace(GOOD, spark="3.5.9", not_run="Spark 4.0 and newer have it")
    found = table(page.page(page.cells({("timers", "4.3.0"): GOOD, ("timers", "3.5.9"): old})))
    assert found[0] == "| job | Spark 4.3.0 | Spark 3.5.9 |"
    assert len(found) == 2 + len(rows.ROWS)
    (timers,) = [line for line in found if "exact, 12 moves, one drained (2026-01-01)" in line]
    assert timers.endswith("| not run: Spark 4.0 and newer have it (2026-01-01) |")


def test_cells_that_were_not_run_again_stay_on_the_page(tmp_path: Path) -> None:
    written = tmp_path / "page.md"
    odd = dataclasses.replace(GOOD, spark="4.0.5", wrong=("first: a | b",))
    for number, outcome in enumerate((GOOD, odd, dataclasses.replace(GOOD, day="2026-02-02"))):
        page.keep(outcome, tmp_path / str(number))
        assert main(["--out", str(tmp_path / str(number)), "page", str(written)]) == 0
    (timers,) = [line for line in table(written.read_text()) if "2026" in line]
    assert timers.endswith("| exact, 12 moves, one drained (2026-02-02) | **wrong**: first: a \\| b (2026-01-01) |")


def test_a_row_that_is_described_otherwise_now_has_nothing_to_keep() -> None:
    text = page.page(page.cells({("timers", "4.3.0"): GOOD}))
    before = text.replace("timers of event time", "timers")
    assert "exact, 12 moves" not in page.page(page.kept(before))


def test_what_is_wrong_is_said_in_place_of_what_was_done() -> None:
    told = page.cell(dataclasses.replace(GOOD, wrong=("2 tasks failed",)))
    assert told == "**wrong**: 2 tasks failed"


def test_a_row_has_a_name_of_its_own_and_another_name_is_refused() -> None:
    names = [row.name for row in rows.ROWS]
    assert len(set(names)) == len(names)
    assert set(rows.EVERY_VERSION) <= set(names)
    with pytest.raises(ValueError, match="'nothing' given; aggregation, "):
        rows.find("nothing")
