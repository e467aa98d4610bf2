"""A registry: names, and where what they stand for is found. Nothing is imported before it is asked for."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ByName:
    """What one kind offers; `word` is what messages call one of it, `places` are "module:name" by name."""

    word: str
    places: Mapping[str, str]

    def names(self) -> tuple[str, ...]:
        """Every name there is, in alphabetical order."""
        return tuple(sorted(self.places))

    def load(self, name: str) -> Any:
        """What the name stands for. Raises ValueError with the names that exist."""
        if name not in self.places:
            raise ValueError(f"{self.word}: there is no '{name}'; choose one of {', '.join(self.names())}")
        module, _, attribute = self.places[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
