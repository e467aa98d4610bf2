"""CPU seconds of this thread by part: named functions are wrapped, and what a part asks of another counts there."""

from __future__ import annotations

import functools
import importlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

Place = tuple[str, str]
"""What is measured under a name: "module:attribute" or "module:Class.attribute"."""


class Parts:
    """Wraps for the length of a `with`; `seconds` is by name, without what other parts took within it."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._places = tuple(places)
        self._under_way: list[list[float]] = []
        self._undo: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Parts:
        for name, where in self._places:
            module, _, path = where.partition(":")
            *owners, attribute = path.split(".")
            owner = functools.reduce(getattr, owners, importlib.import_module(module))
            there = owner.__dict__[attribute] if isinstance(owner, type) else getattr(owner, attribute)
            self._undo.append((owner, attribute, there))
            setattr(owner, attribute, self._measured(name, there))
        return self

    def __exit__(self, *_: object) -> None:
        for owner, attribute, there in reversed(self._undo):
            setattr(owner, attribute, there)

    def _measured(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def measured(*args: Any, **more: Any) -> Any:
            inner = [0.0]
            self._under_way.append(inner)
            begun_s = time.thread_time()
            try:
                return function(*args, **more)
            finally:
                spent_s = time.thread_time() - begun_s
                self._under_way.pop()
                self.seconds[name] += spent_s - inner[0]
                if self._under_way:
                    self._under_way[-1][0] += spent_s

        return measured
