"""Loops are compiled before the clock of a plan runs."""

from __future__ import annotations

from streamjob_planners import building, registry


def test_warming_up_calls_every_loop_that_the_planners_call() -> None:
    assert registry.names()  # They are all loaded.
    assert set(building.used_by_planners()) <= set(building.called())
