"""Python's collector of cycles, told that what is loaded stays.

Left to itself it looks through everything that was ever imported several times a minute, 0.15 s each: the documents
that a cycle reads are thousands of containers, which it takes for news though they are gone in a moment.
"""

from __future__ import annotations

import gc

NEWS = 20_000
"""Containers more than there were, from which on it looks for cycles among them; Python's default is 700."""


def settle() -> None:
    """What is there now is not looked at any more; new cycles are found when there are many."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEWS, 10, 10)
