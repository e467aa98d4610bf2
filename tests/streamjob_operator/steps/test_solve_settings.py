"""The knobs of collocation reach every planner that has them."""

from __future__ import annotations

import inspect

import pytest

from streamjob_operator.steps.solve import in_process
from streamjob_planners import registry
from streamjob_planners.albic.settings import AlbicSettings

SETTINGS = AlbicSettings(score_factor=3.0)


@pytest.mark.parametrize("name", registry.names())
def test_a_planner_with_knobs_of_collocation_gets_the_jobs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = inspect.signature(type(registry.get(name))).parameters.values()
    has_knobs = any("AlbicSettings" in str(one.annotation) for one in parameters)
    given: list[tuple[object, ...]] = []
    monkeypatch.setattr(registry, "get", lambda _, *settings: given.append(settings))
    in_process.__wrapped__(name, SETTINGS)
    assert given == [(SETTINGS,) if has_knobs else ()]
