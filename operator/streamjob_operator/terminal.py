"""Where commands print tables: a terminal as wide as it is, or a file or pipe in which nothing is cut."""

from __future__ import annotations

import os
import sys

from rich.console import Console

PIPED_COLUMNS = 240
"""Wide enough for the names of jobs and their reasons; rich takes 80 where nobody tells, and cuts."""


def console() -> Console:
    """For what a command prints once. COLUMNS in the environment is the person's word."""
    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(width=PIPED_COLUMNS if piped else None)
