"""A mutant in a process that has imported everything: the functions that are there get the changed code.

Whoever holds a function holds the mutant, however it was imported. What importing runs (constants, defaults, classes)
cannot be changed so.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import CodeType, FunctionType


class Functions:
    """The functions of one module, as they are in memory, in the order of its text."""

    def __init__(self, path: str, text: str) -> None:
        """`path` is the module's file, as its functions know it."""
        self._path = path
        places = {(code.co_qualname, code.co_firstlineno): at for at, code in enumerate(_codes(text, path))}
        self._there = [
            (one, places[where])
            for one in gc.get_objects()
            if isinstance(one, FunctionType) and one.__code__.co_filename == path
            if (where := (one.__code__.co_qualname, one.__code__.co_firstlineno)) in places
        ]

    def become(self, text: str) -> None:
        """Each gets the code that this text has for it."""
        codes = list(_codes(text, self._path))
        for one, place in self._there:
            one.__code__ = codes[place]


def _codes(text: str, path: str) -> Iterator[CodeType]:
    """Functions of a module and of its classes; those within functions belong to these."""
    yield from _below(compile(text, path, "exec", dont_inherit=True))


def _below(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            # A function has names of its own: a flag of its code tells it from the body of a class.
            yield from [one] if one.co_flags & 0x02 else _below(one)
