"""Whether drawings can be made here: the operator is installed without the libraries for them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import click

NEEDED = ("jinja2", "matplotlib")


def lacking() -> str | None:
    """What is missing and how to get it, as half a sentence; None when nothing is."""
    if all(importlib.util.find_spec(name) for name in NEEDED):
        return None
    return f"that needs {' and '.join(NEEDED)}, which `pip install 'streamjob[controller]'` brings"


def drawing(suffixes: tuple[str, ...]) -> Callable[[click.Context, click.Parameter, Path | None], Path | None]:
    """Callback of an option that names a new drawing; refuses other suffixes, and all where no drawing can be made."""

    def check(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
        if value is not None and value.suffix not in suffixes:
            raise click.BadParameter(f"'{value}' given; a name that ends with {', '.join(suffixes)} is needed")
        if value is not None and (what := lacking()):
            raise click.BadParameter(f"'{value}' given; {what}.")
        return value

    return check
