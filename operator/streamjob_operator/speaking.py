"""A group of commands whose output may go anywhere: to few letters, to a full disk, to nobody."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import Any

import click

from streamjob_operator.unsteered import unsteered

BAD_INPUT = 2


def stopped(*sentences: str, code: int = BAD_INPUT) -> SystemExit:
    """Each sentence on stderr, without what would steer a terminal, and the exit code to raise."""
    for sentence in sentences:
        click.echo(unsteered(sentence), err=True)
    return SystemExit(code)


class Speaking(click.Group):
    """Characters that the output's encoding lacks are written as numbers; a full disk is told in a sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        """See click.Group."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno != errno.ENOSPC or error.filename is not None:
                raise
            _hang_up()
            raise click.ClickException(f"The output cannot be written: {error.strerror}.") from error


def _hang_up() -> None:
    """What is still in buffers goes nowhere: Python would fail over it at its own end."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
