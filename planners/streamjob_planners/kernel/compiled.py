"""Compiles inner loops: ahead of time or by numba, where either is there; else the same code runs interpreted."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, TypeVar, cast

from streamjob_planners.kernel import ahead

_NUMBA = importlib.util.find_spec("numba") is not None and not ahead.THERE
AVAILABLE = ahead.THERE or _NUMBA
"""Whether inner loops are compiled; interpreted ones are some 100 times slower and give the same answers."""

if _NUMBA:
    import numba

F = TypeVar("F", bound=Callable[..., object])

_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    # Arguments are structures of some thirty arrays. Without these two a step takes 4 microseconds instead of 0.3:
    # calls would copy them, and every access would count a reference. Nothing here allocates, so nothing needs that.
    "forceinline": True,
    "_nrt": False,
}


def compiled(function: F) -> F:
    """The function, compiled ahead of time, or by numba at its first call and kept on disk for the next process.

    Ahead of time only those are compiled on their own that Python calls: the others are parts of these.
    """
    if ahead.THERE:
        return cast(F, ahead.loop_of(function))
    return cast(F, numba.njit(**_OPTIONS)(function)) if _NUMBA else function
