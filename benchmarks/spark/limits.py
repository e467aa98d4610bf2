"""What was measured, with mean, spread and trials of each figure, as one file. Rows that were not run again stay.

python benchmarks/spark/limits.py [--out out/benchmarks] [--limits benchmarks/limits/spark.json] [--picture FILE]
"""

from __future__ import annotations

import argparse
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import move_pause
import overhead
import predictions
import slow
import table
from picture import draw

PARTS = (
    ("compare", table, ("case",)),
    ("predictions", predictions, ("case",)),
    ("slow", slow, ("case", "system")),
    ("overhead", overhead, ("groups",)),
    ("move_pause", move_pause, move_pause.NAMED),
)
"""Tables, and what tells their rows apart."""


def merged(
    before: Sequence[dict[str, Any]], found: Sequence[dict[str, Any]], key: Sequence[str]
) -> list[dict[str, Any]]:
    """The rows from before, those that were found again in their new form, then the new ones."""

    def name(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[part] for part in key)

    return list({**{name(row): row for row in before}, **{name(row): row for row in found}}.values())


def main() -> None:
    """Print every table, write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    parser.add_argument("--limits", type=pathlib.Path, default=pathlib.Path("benchmarks/limits/spark.json"))
    parser.add_argument("--picture", type=pathlib.Path, help="PNG file to draw the comparison into, all of its rows")
    args = parser.parse_args()
    limits = json.loads(args.limits.read_text()) if args.limits.exists() else {}
    for name, part, key in PARTS:
        limits[name] = merged(limits.get(name, []), part.rows_of(args.out), key)
        part.print_report(limits[name])
        print()
    if args.picture:
        draw(limits["compare"], args.picture)
    args.limits.parent.mkdir(parents=True, exist_ok=True)
    args.limits.write_text(json.dumps(limits, indent=1) + "\n")


if __name__ == "__main__":
    main()
