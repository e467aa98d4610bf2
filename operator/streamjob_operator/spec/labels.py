"""Labels by which a StreamJob names another object: what Kubernetes takes as labels, and nothing else of a selector.

Source: Kubernetes' documentation of labels, "Syntax and character set".
"""

from __future__ import annotations

import re
from typing import Annotated

from annotated_types import MaxLen
from pydantic import AfterValidator

from streamjob_operator.spec.rules import Rule, quoted, told

MOST, LONGEST = 20, 63
"""Labels, and characters of a value and of a key's own name."""
_LONGEST_KEY = 253 + 1 + LONGEST
_VALUE = r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
_KEY = rf"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,{LONGEST - 2}}}[A-Za-z0-9])?"
_HINT = "a label's key is needed, [PREFIX/]NAME, and a value of at most 63 letters, digits, '-', '_' and '.'"
_WRONG = (
    f"k, k.size() > {_LONGEST_KEY} || !k.matches({quoted(f'^(?:{_KEY})$')}) || "
    f"(self[k] != '' && !self[k].matches({quoted(f'^(?:{_VALUE})$')}))"
)


def _labels(given: dict[str, str]) -> dict[str, str]:
    for key, value in given.items():
        good = len(key) <= _LONGEST_KEY and re.fullmatch(_KEY, key) and (not value or re.fullmatch(_VALUE, value))
        if not good:
            raise ValueError(f"{key}: {_HINT}")
    return given


Labels = Annotated[
    dict[str, Annotated[str, MaxLen(LONGEST)]],
    AfterValidator(_labels),
    Rule(f"!self.exists({_WRONG})", _HINT, told=told(f"%s: {_HINT}", f"self.filter({_WRONG})[0]")),
]
