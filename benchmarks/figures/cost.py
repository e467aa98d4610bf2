"""What the figures cost: CPU time of the kept pieces of each paper, of those alone that today's sources give.

    python -m benchmarks.figures.cost

Programs take some more each time, for imports and pictures: `make figures` with all pieces kept tells that.
"""

from __future__ import annotations

import importlib

from benchmarks.figures.__main__ import PAPERS
from benchmarks.figures.report import table
from benchmarks.kept import PIECES, spent_s


def main() -> None:
    """Prints a line for each paper, and their sum."""
    rows: list[tuple[str, int, float, float]] = []
    for paper, programs in PAPERS.items():
        before = len(PIECES)
        for program in programs:
            importlib.import_module(f"benchmarks.figures.{program}")
        spent = [seconds for function in PIECES[before:] for seconds in spent_s(function)]
        rows.append((paper, len(spent), sum(spent), max(spent, default=0.0)))
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows), max(row[3] for row in rows)))
    table(("paper", "pieces", "CPU s", "longest"), rows)


if __name__ == "__main__":
    main()
