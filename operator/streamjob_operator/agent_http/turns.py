"""Large pages and answers are read in turn: what they take meanwhile is not that of all jobs at once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from streamjob_operator.places import Places
from streamjob_operator.ports import Unavailable

AT_A_TIME = 2
"""Of all namespaces, one each: an agent whose page drips has its turn for half a minute, and others read beside it."""
LONGEST_TURN_S = 30.0
"""Of an answer that drips."""
LONGEST_WAIT_S = 40.0
"""A little more than the longest turn and reading what came: whose namespace is next has its own."""


class Turns:
    """Who comes next is said by `Places`, as of threads, as if several namespaces always shared them; of one namespace
    who has waited longest. Safe for several threads."""

    def __init__(self, longest_wait_s: float = LONGEST_WAIT_S) -> None:
        self._longest_wait_s = longest_wait_s
        self._places = Places(AT_A_TIME)
        self._waiting: list[tuple[str, object]] = []
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def turn(self, namespace: str, what: str = "The agent's page") -> Iterator[None]:
        """A turn to read `what`; raises Unavailable where none comes for longest_wait_s."""
        self._wait(namespace, what)
        try:
            yield
        finally:
            with self._changed:
                self._places.leave(namespace)
                self._changed.notify_all()

    def _wait(self, namespace: str, what: str) -> None:
        asker = (namespace, object())
        with self._changed:
            self._waiting.append(asker)
            came = self._changed.wait_for(lambda: self._next() is asker, self._longest_wait_s)
            self._waiting.remove(asker)
            if came:
                self._places.take(namespace)
            self._changed.notify_all()  # whose turn it is may be another's now
        if not came:
            raise Unavailable(
                f"{what} is large, and what is large is read one after another: within {self._longest_wait_s:g} s its "
                "turn did not come."
            )

    def _next(self) -> tuple[str, object] | None:
        able = (one for one in self._waiting if self._places.may(one[0], shared=True))
        return min(able, key=lambda one: (self._places.has(one[0]), self._places.last(one[0])), default=None)
