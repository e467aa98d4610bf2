"""An executor that is emptied and let go because a file asks for it, and is gone when the file is."""

from __future__ import annotations

import pathlib
import random
from collections.abc import Mapping, Sequence


class Drain:
    """For whoever tells the agent where key groups go: who leaves, and how many executors there should be.

    Another process asks by making the file `asked`, which is taken away once an executor has been let go: a driver that
    dies meanwhile leaves the file to the next one.
    """

    def __init__(self, asked: pathlib.Path, chance: random.Random) -> None:
        self._asked, self._chance = asked, chance
        self._most = 0
        self.leaver: str | None = None
        self.target: int | None = None

    def look(self, states: Mapping[str, str]) -> bool:
        """Take in the agent's states of executors; whether somebody has been chosen to leave."""
        ready = sorted(name for name, state in states.items() if state == "ready")
        self._most = max(self._most, len(ready))
        if self.leaver is not None:
            self._follow(states.get(self.leaver))
        if self.leaver is not None or len(ready) < 2 or not self._asked.exists():
            return False
        self.leaver, self.target = self._chance.choice(ready), self._most
        return True

    def _follow(self, state: str | None) -> None:
        """One that died before it was let go was not drained: another one will be."""
        if state == "leaving":
            self._asked.unlink(missing_ok=True)
        if state not in ("ready", "draining"):
            self.leaver = None

    @property
    def leaving(self) -> Sequence[str]:
        """Nobody, or who leaves."""
        return () if self.leaver is None else (self.leaver,)
