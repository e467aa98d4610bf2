"""Rules that one field's type cannot say, for the API server: the same ones that the models check in Python.

The language is CEL as Kubernetes has it (https://kubernetes.io/docs/reference/using-api/cel). A rule stands beside the
validator that says the same; the API server prints the field, the value where it is a leaf, and the message.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

from pydantic import AfterValidator


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """`self` must fulfil `expression`, else the object is refused with `message`.

    On a model it speaks of the object; `path` is the field to blame, relative to it, such as ".min". As a mark on a
    field it speaks of the field's value. `oldSelf` in an expression makes it a rule about changes. `told` is CEL for a
    message that names values, see :func:`told`; joining texts with + costs more than the API server allows.
    """

    expression: str
    message: str
    path: str = ""
    told: str = ""


class OneOf:
    """Marks a text that must be one of these."""

    def __init__(self, choices: Iterable[str]) -> None:
        self.choices = tuple(choices)


class Shape:
    """Marks a free-form map: the API server looks at the fields of `model`, and keeps the others as they are."""

    def __init__(self, model: Any) -> None:
        self.model = model


_WHITE = r"\s\x0b\x1c-\x1f\x{85}\p{Z}"
"""What Python takes for white space: RE2's own has ASCII's alone, and of that not all."""


def matches(pattern: str, message: str) -> Rule:
    """The whole text must fit a pattern that Python and RE2 read alike; \\s may stand in it, within brackets."""
    whole = f"^(?:{pattern})$".replace(r"\s", _WHITE)
    return Rule(f"self.matches({quoted(whole)})", message)


def shaped(pattern: str, hint: str) -> AfterValidator:
    """The same for who reads it: the whole text must fit."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(hint)
        return text

    return AfterValidator(check)


def quoted(text: str) -> str:
    """A CEL string."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def exactly_one(first: str, second: str) -> Rule:
    """One of two fields must be given."""
    return Rule(f"has(self.{first}) != has(self.{second})", f"exactly one of {first} and {second} is needed")


def told(text: str, *values: str) -> str:
    """CEL for a message with values in the places of %s (text) and %d (whole numbers)."""
    return f"{quoted(text)}.format([{', '.join(values)}])"


def seconds(duration: str) -> str:
    """CEL for the seconds of a duration such as 1h30m; 0 for what is none."""
    units = "{'ms': 0.001, 's': 1.0, 'm': 60.0, 'h': 3600.0, 'd': 86400.0}"
    part = f"double(part.find('[0-9.]+')) * {units}[part.find('[a-z]+')]"
    return f"{duration}.findAll('[0-9]+(?:[.][0-9]+)?(?:ms|s|m|h|d)').map(part, {part}).sum()"


def size_bytes(size: str) -> str:
    """CEL for the bytes of a size such as 2Gi."""
    factors = {"": 1, **{unit: 1000**power for power, unit in enumerate("kMGTP", start=1)}}
    factors |= {f"{unit}i": 1024**power for power, unit in enumerate("KMGTP", start=1)}
    units = ", ".join(f"{quoted(unit)}: {number(factor)}" for unit, factor in factors.items())
    return f"double({size}.find('[0-9.]+')) * {{{units}}}[{size}.find('[A-Za-z]+$')]"


def number(value: float) -> str:
    """A CEL double."""
    return repr(float(value))
