"""Large pages and answers are read one at a time: what one takes meanwhile is in no room, so it must be one alone."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from streamjob_operator.ports import Unavailable

LONGEST_TURN_S = 30.0
"""Of an answer that drips."""
LONGEST_WAIT_S = 40.0
"""A little more than the longest turn and reading what came: whose namespace is next has its own."""
HALF_LIFE_S = 600.0
"""After which half of a namespace's turns is forgotten."""
FORGOTTEN_S = 0.01


class Turns:
    """Who comes next is of the namespace whose turns have taken least time of late; of those alike, who has waited
    longest. So an agent that drips costs others one turn, not every second one. Safe for several threads."""

    def __init__(self, longest_wait_s: float = LONGEST_WAIT_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._longest_wait_s = longest_wait_s
        self._clock = clock
        self._taken = False
        self._had: dict[str, tuple[float, float]] = {}  # namespace -> seconds of its turns, as of when
        self._waiting: list[tuple[str, object]] = []
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def turn(self, namespace: str, what: str = "The agent's page") -> Iterator[None]:
        """The turn to read `what`; raises Unavailable where it does not come for longest_wait_s."""
        self._wait(namespace, what)
        began_s = self._clock()
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._count(namespace, self._clock() - began_s)
                self._changed.notify_all()

    def _wait(self, namespace: str, what: str) -> None:
        asker = (namespace, object())
        with self._changed:
            self._waiting.append(asker)
            came = self._changed.wait_for(lambda: self._next() is asker, self._longest_wait_s)
            self._waiting.remove(asker)
            self._taken = self._taken or came
            self._changed.notify_all()  # whose turn it is may be another's now
        if not came:
            raise Unavailable(
                f"{what} is large, and what is large is read one after another: within {self._longest_wait_s:g} s its "
                "turn did not come."
            )

    def _next(self) -> tuple[str, object] | None:
        now_s = self._clock()
        least = min(self._waiting, key=lambda one: self._had_s(one[0], now_s), default=None)
        return None if self._taken else least

    def _had_s(self, namespace: str, now_s: float) -> float:
        """Seconds that its turns have taken, older ones counting less."""
        seconds, at_s = self._had.get(namespace, (0.0, now_s))
        return float(seconds * 0.5 ** ((now_s - at_s) / HALF_LIFE_S))

    def _count(self, namespace: str, seconds: float) -> None:
        """One more turn; who has had next to nothing of late is forgotten."""
        now_s = self._clock()
        had = {one: self._had_s(one, now_s) for one in {*self._had, namespace}}
        had[namespace] += seconds
        self._had = {one: (of, now_s) for one, of in had.items() if of >= FORGOTTEN_S}
