"""Takes PartitionMaps as they come and hands each new spec to the agent, again while it is refused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from streamjob_agent.map_plan import plan_from_spec, unknown_fields
from streamjob_agent.wire import Assignment, WireError


class Feed:
    """What the newest map asks for. Safe for several threads.

    `submit` takes an assignment and gives why it is refused, None when it is taken. `hint` gets the assignments of the
    first readable map: after a restart of the driver they are for another application, but tell where key groups were.
    """

    def __init__(self, submit: Callable[[Assignment], str | None], hint: Callable[[Assignment], None]) -> None:
        self._submit = submit
        self._hint = hint
        self._hinted = False
        self._lock = threading.Lock()
        self._seen: tuple[str, int] | None = None
        self._waiting: tuple[Assignment, ...] = ()
        self._refused: str | None = None
        self._unreadable: str | None = None
        self._unknown: tuple[str, ...] = ()

    def offer(self, found: Mapping[str, Any]) -> None:
        """A map as the API server gave it; one that is no newer than the last one of the same object is skipped."""
        identity = found.get("metadata") or {}
        uid, version = str(identity.get("uid")), int(identity.get("generation") or 0)
        with self._lock:
            if self._seen is not None and self._seen[0] == uid and version <= self._seen[1]:
                return
            self._seen = (uid, version)
            self._take(found.get("spec") or {})

    def _take(self, spec: Mapping[str, Any]) -> None:
        self._waiting, self._refused, self._unreadable = (), None, None
        self._unknown = unknown_fields(spec)
        if not spec.get("generation"):  # made before the first plan
            return
        try:
            plan = plan_from_spec(spec)
        except WireError as error:
            self._unreadable = f"Unreadable: {error}"
            return
        if not self._hinted:
            self._hinted = True
            for assignment in plan:
                self._hint(assignment)
        self._waiting = plan
        self._hand_over()

    def again(self) -> None:
        """Offer what was refused once more: the query may run by now, the executor may be there."""
        with self._lock:
            self._hand_over()

    def _hand_over(self) -> None:
        answers = [(one, self._submit(one)) for one in self._waiting]
        self._waiting = tuple(one for one, refused in answers if refused is not None)
        self._refused = next((refused for _, refused in answers if refused is not None), None)

    @property
    def refused(self) -> str | None:
        """Why the newest plan of some query is not taken, None when all are."""
        return self._refused

    @property
    def unknown(self) -> tuple[str, ...]:
        """Fields of the newest spec that are left out: its operator is newer than this agent."""
        return self._unknown

    @property
    def unreadable(self) -> str | None:
        """Why the newest spec could not even be read, None when it could."""
        return self._unreadable
