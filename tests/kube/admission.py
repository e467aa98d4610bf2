"""What the API server says to a broken object, as sentences."""

from __future__ import annotations

import re

_REFUSED = re.compile(r'^The \w+ "[^"]*" is invalid: ?', re.MULTILINE)
_NOT_READ = re.compile(r'^Error from server \(BadRequest\): error when creating "STDIN": \w+ in version .* as a \w+: ')
_NOT_CHECKED = re.compile(r'<nil>: Invalid value: "?null"?: some validation rules were not checked')
"""1.30 writes the null in quotes, 1.34 does not."""


def sentences(error: str) -> list[str]:
    """One for each mistake, without what kubectl writes around them."""
    text = _NOT_READ.sub("", _REFUSED.sub("", error.strip()))
    lines = [line.removeprefix("* ").strip() for line in text.splitlines()]
    return [line for line in lines if line and not _NOT_CHECKED.match(line)]
