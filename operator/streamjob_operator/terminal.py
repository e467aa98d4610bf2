"""Where commands print: a terminal as wide as it is, or a file or pipe in which nothing is cut.

What is printed quotes what others wrote: jobs' agents, files, Prometheus. So brackets are brackets, and no character
steers the terminal of whoever reads it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import IO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from streamjob_operator.unsteered import unsteered

PIPED_COLUMNS = 240
"""Wide enough for the names of jobs and their reasons; rich takes 80 where nobody tells, and cuts."""


def console() -> Console:
    """For what a command prints once. COLUMNS in the environment is the person's word, unless it says none."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told) > 0:
        return Plain()
    if sys.stdout is None or not sys.stdout.isatty():
        return Plain(width=PIPED_COLUMNS)
    return Plain(width=shutil.get_terminal_size().columns if told else None)  # rich would print into no columns


class Plain(Console):
    """A console that takes text for text."""

    def __init__(self, *, width: int | None = None, file: IO[str] | None = None) -> None:
        super().__init__(width=width, file=file, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See rich.console.Console."""
        for one in super().render(renderable, options):
            yield one if one.control else Segment(unsteered(one.text), one.style)
