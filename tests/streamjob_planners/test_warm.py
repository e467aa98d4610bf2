"""Loops are compiled before the clock of a plan runs."""

from __future__ import annotations

from typing import Any, cast

import pytest
from numba import types

from streamjob_planners import building, registry
from streamjob_planners.kernel.ahead import name_of
from streamjob_planners.kernel.compiled import inlined
from streamjob_planners.kernel.near import below


@inlined
def one_more(value: int) -> int:
    return value + 1


def test_warming_up_calls_every_loop_that_the_planners_call() -> None:
    assert registry.names()  # They are all loaded.
    wanted = {
        name_of(loop.py_func)
        for module, _, loop in building.places_of_loops()
        if not module.__name__.startswith("streamjob_planners.kernel.")
    }
    assert wanted <= set(building.called())


def test_a_piece_is_not_called_from_python() -> None:
    """Without numba's way in from Python the process would end."""
    with pytest.raises(TypeError, match="below is a piece of compiled loops"):
        below(None, 1)  # type: ignore[arg-type]


def test_a_piece_is_compiled_once_for_a_constant_and_for_what_varies() -> None:
    """Two processes that compile at once keep a loop's second form under the first one's name."""
    piece = cast(Any, one_more)
    for given in (types.literal(0), types.int64):
        piece.get_call_template((given,), {})
    assert len(piece.overloads) == 1
