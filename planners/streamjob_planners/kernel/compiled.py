"""Compiles inner loops with numba where it is installed; the same code runs interpreted where it is not."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, TypeVar, cast

AVAILABLE = importlib.util.find_spec("numba") is not None
"""Whether inner loops are compiled; interpreted ones are some 100 times slower and give the same answers."""

if AVAILABLE:
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
    """The function, compiled at its first call and kept on disk for the next process."""
    return cast(F, numba.njit(**_OPTIONS)(function)) if AVAILABLE else function
