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
    from numba.core.registry import CPUDispatcher
    from numba.core.types import unliteral

    class _Piece(CPUDispatcher):
        def __call__(self, *values: object) -> object:
            """Without a way in from Python, the process would end here."""
            raise TypeError(f"{self.py_func.__name__} is a piece of compiled loops, which alone may call it")

        def get_call_template(self, args: Any, kws: Any) -> Any:
            """One piece for a constant and for what varies: it is inlined, so a constant is known where it stands.

            Numba would make one of each. Two processes that compile at once could then keep one under the other's name.
            """
            return super().get_call_template(tuple(map(unliteral, args)), kws)


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
    """A loop that Python calls: compiled ahead of time, or by numba at its first call and kept for the next process."""
    if ahead.THERE:
        return cast(F, ahead.loop_of(function))
    return cast(F, numba.njit(**_OPTIONS)(function)) if _NUMBA else function


def inlined(function: F) -> F:
    """A piece of `compiled` loops, which alone may call it. Raises TypeError where Python does and numba is there.

    What a call from Python takes is left out: to take thirty arrays out of their objects needs more code than most
    pieces, and compiling it was more than half of all compiling.
    """
    if not _NUMBA:
        return function
    piece = numba.njit(**{**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True})(function)
    if isinstance(piece, CPUDispatcher):  # a function while NUMBA_DISABLE_JIT says so
        piece.__class__ = _Piece
    return cast(F, piece)
