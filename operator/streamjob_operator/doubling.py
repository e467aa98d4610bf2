"""Waiting that doubles after each failure in a row."""

from __future__ import annotations

import math

_MOST_TIMES = 100
"""More is longer than any limit, and of a thousand no float holds the power."""


def doubled_s(first_s: float, times: int, most_s: float) -> float:
    """`first_s` doubled so many times, 0 or more, and never longer than `most_s`."""
    return min(math.ldexp(first_s, min(times, _MOST_TIMES)), most_s)
