"""Whether the job's totals are right: computed again from the source files in plain Python, without Spark."""

from __future__ import annotations

import dataclasses
import itertools
import json
import pathlib
from collections import defaultdict
from collections.abc import Iterator

CHECKSUM_MODULUS = 2_147_483_647


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """One depot's totals."""

    scans: int = 0
    grams: int = 0
    checksum: int = 0

    def plus(self, scan: int, grams: int) -> Total:
        """With one scan more."""
        checksum = (self.checksum + scan) % CHECKSUM_MODULUS
        return Total(scans=self.scans + 1, grams=self.grams + grams, checksum=checksum)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was compared. `mistakes` are sentences, empty when everything is right."""

    lines: int
    repeats: int
    scans: int
    depots: int
    batches: int
    mistakes: tuple[str, ...]


def json_lines(path: pathlib.Path) -> Iterator[dict[str, int]]:
    """Every row of one file."""
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def expected_totals(source: pathlib.Path) -> tuple[dict[int, Total], int]:
    """Totals of each depot over all scans, a repeated scan counted once; and the number of lines read."""
    seen: set[int] = set()
    totals: dict[int, Total] = defaultdict(Total)
    lines = 0
    for row in itertools.chain.from_iterable(map(json_lines, sorted(source.glob("*.json")))):
        lines += 1
        if row["scan"] not in seen:
            seen.add(row["scan"])
            totals[row["depot"]] = totals[row["depot"]].plus(row["scan"], row["grams"])
    return dict(totals), lines


def finished_batches(output: pathlib.Path) -> list[pathlib.Path]:
    """Files of the batches that the job has written to the end, in order."""
    return sorted(output.glob("batch-*.json"), key=lambda path: int(path.stem.partition("-")[2]))


def checked_scans(output: pathlib.Path) -> int:
    """Scans that finished batches have taken in."""
    return sum(row["checked"] for path in finished_batches(output) for row in json_lines(path))


def prove(source: pathlib.Path, output: pathlib.Path) -> Proof:
    """Compare every batch with the one before it, and the last totals with the source."""
    expected, lines = expected_totals(source)
    batches = finished_batches(output)
    found, mistakes = _follow(batches)
    for depot in sorted(expected.keys() | found.keys()):
        if found.get(depot) != expected.get(depot):
            mistakes.append(f"depot {depot}: {expected.get(depot)} is right, {found.get(depot)} was computed")
    scans = sum(total.scans for total in expected.values())
    return Proof(
        lines=lines,
        repeats=lines - scans,
        scans=scans,
        depots=len(expected),
        batches=len(batches),
        mistakes=tuple(mistakes),
    )


def _follow(batches: list[pathlib.Path]) -> tuple[dict[int, Total], list[str]]:
    """The newest totals; a total that does not continue the one before it means that state was lost or doubled."""
    newest: dict[int, Total] = {}
    mistakes = []
    for path in batches:
        for row in json_lines(path):
            before = newest.get(row["depot"], Total())
            if row["scans"] != before.scans + row["checked"]:
                mistakes.append(
                    f"{path.stem}, depot {row['depot']}: {before.scans} + {row['checked']} became {row['scans']}"
                )
            newest[row["depot"]] = Total(scans=row["scans"], grams=row["grams"], checksum=row["checksum"])
    return newest, mistakes
