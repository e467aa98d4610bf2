"""The proof accepts right totals and finds each way in which totals can be wrong."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from proof import CHECKSUM_MODULUS, checked_scans, prove

Row = dict[str, Any]


def write(path: pathlib.Path, rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def total(depot: int, scans: int, checked: int, grams: int, checksum: int) -> Row:
    return {"depot": depot, "scans": scans, "checked": checked, "grams": grams, "checksum": checksum}


@pytest.fixture
def run(tmp_path: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """Four scans of two depots, one of them sent twice, taken in by three batches."""
    source, output = tmp_path / "input", tmp_path / "totals"
    big = CHECKSUM_MODULUS - 1
    scans = [(big, 1, 10), (2, 1, 20), (3, 2, 30), (2, 1, 20), (4, 1, 40)]
    rows = [{"scan": scan, "depot": depot, "grams": grams} for scan, depot, grams in scans]
    write(source / "0.json", rows[:2])
    write(source / "1.json", rows[2:])
    write(output / "batch-0.json", [total(1, 2, 2, 30, 1)])
    write(output / "batch-2.json", [total(2, 1, 1, 30, 3)])
    write(output / "batch-10.json", [total(1, 3, 1, 70, 5)])
    return source, output


def test_right_totals_are_accepted(run: tuple[pathlib.Path, pathlib.Path]) -> None:
    proof = prove(*run)
    assert proof.mistakes == ()
    assert (proof.lines, proof.repeats, proof.scans, proof.depots, proof.batches) == (5, 1, 4, 2, 3)
    assert checked_scans(run[1]) == 4


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (total(1, 4, 2, 90, 7), "depot 1"),  # the repeated scan was counted twice: its first state was lost
        (total(1, 1, 1, 40, 4), "batch-10, depot 1: 2 + 1 became 1"),  # the totals began anew
        (total(1, 3, 1, 71, 5), "grams=71"),
        (total(1, 3, 1, 70, 6), "checksum=6"),
        (total(7, 1, 1, 70, 6), "depot 7: None is right"),
    ],
)
def test_wrong_totals_are_found(run: tuple[pathlib.Path, pathlib.Path], wrong: Row, words: str) -> None:
    write(run[1] / "batch-10.json", [wrong])
    assert any(words in mistake for mistake in prove(*run).mistakes)


def test_unfinished_batch_counts_as_missing(run: tuple[pathlib.Path, pathlib.Path]) -> None:
    (run[1] / "batch-10.json").rename(run[1] / "draft")
    assert checked_scans(run[1]) == 3
    assert prove(*run).mistakes
