"""Loops are compiled before the clock of a plan runs."""

from __future__ import annotations

import pytest

from streamjob_planners import building, registry
from streamjob_planners.kernel.ahead import name_of
from streamjob_planners.kernel.near import below


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
