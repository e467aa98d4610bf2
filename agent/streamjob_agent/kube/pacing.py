"""When to write the status, and when to try again. Pure but for the clock and chance that it is given."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

from streamjob_agent.wire import NOT_YET, AgentStatus

HEARTBEAT_S, REST_S = 10.0, 30.0
"""Seconds between two reports without news: while something is under way, and at rest. Each is a write of the whole
object to the API server (docs/decisions/0062-cycle-cost.md), and most agents are at rest most of the time."""
_SHORTEST_GAP_S = 1.0
_BYTES_PER_S = 64 * 1024  # a status of a hundred thousand key groups is not written each second
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0


def heartbeat_s(status: AgentStatus) -> float:
    """Seconds until the next report where nothing changes, told in the report itself: whoever reads it knows from it
    when the agent is silent."""
    return HEARTBEAT_S if _under_way(status) else REST_S


def _under_way(status: AgentStatus) -> bool:
    """Whether somebody waits for what the agent does."""
    return (
        status.refused is not None
        or status.reason in NOT_YET
        or any(one.state in ("draining", "leaving") for one in status.executors)
        or any(query.moves_pending or query.moves_awaiting for query in status.queries)
    )


class WritePace:
    """A change that matters is written soon, the rest as a heartbeat."""

    def __init__(self) -> None:
        self._written: AgentStatus | None = None
        self._at_s = 0.0
        self._gap_s = 0.0

    def due(self, status: AgentStatus, now_s: float) -> bool:
        """Whether to write now."""
        if self._written is None:
            return True
        waited_s = now_s - self._at_s
        return waited_s >= max(heartbeat_s(status), self._gap_s) or (
            waited_s >= self._gap_s and _telling(status) != self._written
        )

    def wrote(self, status: AgentStatus, size_bytes: int, now_s: float) -> None:
        """Remember what was written."""
        self._written, self._at_s = _telling(status), now_s
        self._gap_s = max(_SHORTEST_GAP_S, size_bytes / _BYTES_PER_S)


def _telling(status: AgentStatus) -> AgentStatus:
    """The status without what changes with every batch."""
    queries = tuple(dataclasses.replace(query, batch_id=None) for query in status.queries)
    return dataclasses.replace(status, now_s=0.0, errors_total=0, queries=queries)


class Backoff:
    """Waits after failures: doubled each time, never more than half a minute, with chance so that agents spread."""

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._next_s = _FIRST_WAIT_S

    def failed(self, retry_after_s: float | None) -> float:
        """Seconds to wait now; what the server asked for, when that is longer."""
        wait_s, self._next_s = self._next_s * (0.5 + self._chance() / 2), min(2 * self._next_s, _LONGEST_WAIT_S)
        return max(wait_s, min(retry_after_s or 0.0, 2 * _LONGEST_WAIT_S))

    def worked(self) -> None:
        """Start over."""
        self._next_s = _FIRST_WAIT_S
