"""`python -m e2e.compatibility`: run rows on this Python's Spark, or write the page of all that were run."""

from __future__ import annotations

import argparse
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Sequence

from e2e.compatibility import page
from e2e.compatibility.rows import EVERY_VERSION, ROWS, find

OUT = pathlib.Path("out/compatibility")


def main(words: Sequence[str] | None = None) -> int:
    """The exit code: 0 when all is right, 1 when a row is not, 2 when the command is wrong."""
    args = _parser().parse_args(words)
    try:
        return int(args.act(args))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2


def run(args: argparse.Namespace) -> int:
    """Run rows one after another, and keep what came of each."""
    from e2e.compatibility.trial import run as run_row  # here: the page needs no Spark

    names = args.rows.split(",") if args.rows else EVERY_VERSION if args.part else [row.name for row in ROWS]
    good = True
    for row in [find(name) for name in names]:
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"compatibility-{row.name}-"))
        outcome = run_row(row, folder, args.seed)
        page.keep(outcome, args.out)
        print(page.line(outcome), flush=True)
        if outcome.good or outcome.not_run:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            good = False
            print(f"  its files: {folder}", flush=True)
    return 0 if good else 1


def write(args: argparse.Namespace) -> int:
    """The page: cells that were run, beside what it has of others."""
    before = args.page.read_text(encoding="utf-8") if args.page.exists() else ""
    found = {**page.kept(before), **page.cells(page.read(args.out))}
    args.page.write_text(page.page(found), encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m e2e.compatibility", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=OUT, help="folder of what came of each row")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("run", help=run.__doc__)
    one.set_defaults(act=run)
    one.add_argument("--rows", metavar="NAME,...", help="these rows")
    one.add_argument("--part", action="store_true", help="the rows that every version of Spark is tried with")
    one.add_argument("--seed", type=int, default=1, help="of random owners")
    whole = commands.add_parser("page", help=write.__doc__)
    whole.set_defaults(act=write)
    whole.add_argument("page", type=pathlib.Path)
    return parser


if __name__ == "__main__":
    sys.exit(main())
