"""Planning processes that are free, and who gets the next one. Safe for several threads."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from streamjob_operator.places import Places

W = TypeVar("W")
Asks = Callable[[], bool]
"""Whether a person waits for what is planned, who may come at any moment; from any thread."""


def nobody() -> bool:
    """No person waits."""
    return False


@dataclasses.dataclass(slots=True, eq=False)
class _Asker:
    namespace: str
    large: bool
    asks: Asks
    asked: bool


class PlanningQueue(Generic[W]):
    """Whose plan comes next is said by `Places`, as of threads; of namespaces that have as few, one that a person waits
    in; of one namespace what a person asked for, also once its plan waits already, then who has waited longest.

    Of `large` plans one less than there are processes is under way at a time.
    """

    def __init__(self, size: int, shared: Callable[[], bool]) -> None:
        self._places, self._shared = Places(size), shared
        self._most_large, self._large = max(1, size - 1), 0
        self._free: list[W] = []
        self._waiting: list[_Asker] = []
        self._changed = threading.Condition()

    def put(self, worker: W) -> None:
        """One that is free."""
        with self._changed:
            self._free.append(worker)
            self._tell()

    def take(self, namespace: str, timeout_s: float, *, large: bool, asked: Asks = nobody) -> W | None:
        """The one that became free last, when it is the asker's turn; None after timeout_s."""
        with self._changed:
            asker = _Asker(namespace, large, asked, asked())
            self._waiting.append(asker)
            came = self._changed.wait_for(lambda: self._next() is asker, timeout_s)
            self._waiting.remove(asker)
            if came:
                self._places.take(namespace)
                self._large += large
            self._tell()  # whose turn it is may be another's now
            return self._free.pop() if came else None

    def leave(self, namespace: str, *, large: bool) -> None:
        """A plan is over that had taken one."""
        with self._changed:
            self._places.leave(namespace)
            self._large -= large
            self._tell()

    def empty(self) -> list[W]:
        """All that are free, which are nobody's any more."""
        with self._changed:
            found, self._free = self._free, []
            return found

    def _tell(self) -> None:
        """Whoever waits looks whether it is its turn. Who was asked for is said once for all: they must agree."""
        for one in self._waiting:
            one.asked = one.asks()
        self._changed.notify_all()

    def _next(self) -> _Asker | None:
        shared = self._shared()
        able = [one for one in self._waiting if self._may(one, shared=shared)] if self._free else []
        asked = {one.namespace for one in able if one.asked}

        def order(one: _Asker) -> tuple[int, bool, int, bool]:
            return *self._places.order(one.namespace, asked=one.namespace in asked), not one.asked

        return min(able, key=order, default=None)

    def _may(self, one: _Asker, *, shared: bool) -> bool:
        return self._places.may(one.namespace, shared=shared) and (not one.large or self._large < self._most_large)
