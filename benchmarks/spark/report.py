"""The command of a script that only shows what there is."""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Callable
from typing import Any


def report(
    description: str | None, rows_of: Callable[[pathlib.Path], Any], print_report: Callable[[Any], None]
) -> None:
    """Print the table of the runs in the folder that is asked for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    print_report(rows_of(parser.parse_args().out))
