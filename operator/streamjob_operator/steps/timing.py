"""How long each step took."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from streamjob_planners.model import Clock

P = ParamSpec("P")
T = TypeVar("T")


class Stopwatch:
    """Runs steps and adds up their seconds by name, also of a step that raises."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.seconds: dict[str, float] = {}

    def __call__(self, name: str, step: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The step's answer."""
        started_s = self._clock()
        try:
            return step(*args, **kwargs)
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + self._clock() - started_s
