"""What was measured, with mean, spread and trials of each figure, as one file.

python benchmarks/spark/limits.py [--out out/benchmarks] [--limits benchmarks/limits/spark.json]
"""

from __future__ import annotations

import argparse
import json
import pathlib

import move_pause
import overhead
import table


def main() -> None:
    """Print every table, write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    parser.add_argument("--limits", type=pathlib.Path, default=pathlib.Path("benchmarks/limits/spark.json"))
    args = parser.parse_args()
    found = {}
    for name, part in (("compare", table), ("overhead", overhead), ("move_pause", move_pause)):
        found[name] = part.rows_of(args.out)
        part.print_report(found[name])
        print()
    args.limits.parent.mkdir(parents=True, exist_ok=True)
    args.limits.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
