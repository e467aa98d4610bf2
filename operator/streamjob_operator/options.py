"""Values of options that several commands have: one reading, and one sentence for what is wrong with a value."""

from __future__ import annotations

import math
import re
import urllib.parse
from collections.abc import Callable

import click

from streamjob_operator.spec.job import URL, URL_HINT
from streamjob_operator.spec.quantities import format_duration, parse_duration


def duration(
    *, zero: bool = True, most_s: float = math.inf
) -> Callable[[click.Context, click.Parameter, str | None], float | None]:
    """Callback of an option that takes a duration such as 90s or 5m: its seconds."""

    def read(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
        if value is None:
            return None
        try:
            seconds = parse_duration(value)
        except ValueError as error:
            raise click.BadParameter(f"'{value}' given; {error}") from error
        if seconds > most_s or not (zero or seconds > 0):
            raise click.BadParameter(f"'{value}' given; {_bounds(zero, most_s)} is needed")
        return seconds

    return read


def _bounds(zero: bool, most_s: float) -> str:
    most = f"at most {format_duration(most_s)}" if most_s < math.inf else ""
    if zero:
        return most
    return f"above 0 and {most}" if most else "more than 0s"


def finite(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """Callback of an option that takes a number: "nan" and "inf" are numbers for click, and no price."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"'{value}' given; a finite number is needed")
    return value


def address(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Where an agent listens. An empty one is a mistake, too: who says --attach wants nothing to be started."""
    if value is None:
        return None
    try:
        parts = urllib.parse.urlsplit(value if "://" in value else f"http://{value}")
        fits = parts.scheme == "http" and parts.hostname is not None and parts.port is not None
        fits = fits and parts.path in ("", "/") and not parts.query
    except ValueError:
        fits = False
    if not fits:
        raise click.BadParameter(f"'{value}' given; HOST:PORT or http://HOST:PORT is needed")
    return value


def web_address(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Callback of an option that takes the address of a web server, in the form in which a StreamJob has it."""
    if value is not None and not re.fullmatch(URL, value):
        raise click.BadParameter(f"'{value}' given; {URL_HINT}")
    return value
