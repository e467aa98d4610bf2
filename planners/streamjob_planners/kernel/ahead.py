"""Inner loops that were compiled ahead of time, where `streamjob_planners.building` has left them beside this file.

Numba looks at the types of what a loop is called with, and compiles it once for each. Code that was compiled before
knows one kind of arrays and reads others wrongly, so what it is called with is compared with what it was made for. The
others are left to Python, some 100 times slower and right; no test of the planners calls a loop with two kinds.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import operator
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

MODULE = "built"
"""The extension module, and the name of the file beside it that says for which arrays each loop was made."""
THERE = importlib.util.find_spec(f"{__package__}.{MODULE}") is not None
LAYOUTS = f"{MODULE}.json"

_ARRAY = operator.attrgetter("dtype.str", "ndim", "flags.carray")


def name_of(function: Callable[..., Any]) -> str:
    """What a loop is called in the module."""
    return f"{function.__module__.rpartition('.')[2]}_{function.__name__}"


def layout_of(values: Iterable[object]) -> tuple[object, ...]:
    """Element type, dimensions, and whether it may be written to and lies in order, of each array; None for numbers."""
    return tuple(
        [
            _ARRAY(one) if isinstance(one, np.ndarray) else layout_of(one) if isinstance(one, tuple) else None
            for one in values
        ]
    )


def loop_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The compiled loop of that name, or the function where only other loops call it.

    Called with other arrays than it was made for, it warns with a RuntimeWarning and runs the function.
    """
    name = name_of(function)
    if name not in _layouts():
        return function
    loop, wanted = getattr(importlib.import_module(f"{__package__}.{MODULE}"), name), _layouts()[name]

    @functools.wraps(function)
    def checked(*values: Any) -> Any:
        if (found := layout_of(values)) != wanted:
            warnings.warn(
                f"{name} was made for {wanted}, not for {found}: it runs slowly", RuntimeWarning, stacklevel=2
            )
            return function(*values)
        return loop(*values)

    return checked


@functools.cache
def _layouts() -> dict[str, tuple[object, ...]]:
    told = json.loads(Path(__file__).with_name(LAYOUTS).read_text(encoding="utf-8"))
    return {name: _frozen(layout) for name, layout in told.items()}


def _frozen(layout: Any) -> Any:
    return tuple(_frozen(one) for one in layout) if isinstance(layout, list) else layout
