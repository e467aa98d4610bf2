"""Loops that were compiled ahead of time stand for the functions that they were made from."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from streamjob_planners.kernel import ahead
from streamjob_planners.model import FloatArray


def doubled(values: tuple[FloatArray, ...], factor: float) -> str:
    return f"{values} {factor}"


def only_inside() -> None:
    """A loop that only others call."""


@pytest.fixture(autouse=True)
def _built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module with one loop, made for two arrays of floats in a row."""
    module = ModuleType("built")
    module.test_ahead_doubled = lambda values, factor: f"compiled {len(values)} {factor}"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "streamjob_planners.kernel.built", module)
    layout = ahead.layout_of(((np.zeros(3), np.zeros(1)), 1.0))
    monkeypatch.setattr(ahead, "_layouts", lambda: {"test_ahead_doubled": layout})


def test_a_loop_takes_the_place_of_its_function() -> None:
    assert ahead.name_of(doubled) == "test_ahead_doubled"
    assert ahead.loop_of(doubled)((np.ones(7), np.ones(2)), 2.0) == "compiled 2 2.0"
    assert ahead.loop_of(only_inside) is only_inside


@pytest.mark.parametrize(
    "other",
    [
        np.zeros(3, dtype=np.int64),  # other elements of the same size
        np.zeros((3, 1)),
        np.zeros(6)[::2],
        np.broadcast_to(0.0, 3),  # may not be written to
    ],
)
def test_arrays_of_another_kind_are_left_to_python_as_the_loop_would_misread_them(other: FloatArray) -> None:
    for arrays in ((other, np.zeros(1)), (np.zeros(3),)):
        with pytest.warns(RuntimeWarning, match="doubled was made for"):
            assert ahead.loop_of(doubled)(arrays, 1.0) == doubled(arrays, 1.0)
