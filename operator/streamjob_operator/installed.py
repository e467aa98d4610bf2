"""What an extra of the package brings, where it is not installed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click


@contextlib.contextmanager
def brought_by(extra: str) -> Iterator[None]:
    """What is imported within comes with that extra: without it the command ends with a UsageError that says so."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "a package").partition(".")[0]
        raise click.UsageError(f"{package} is missing; `pip install 'streamjob[{extra}]'` brings it.") from error
