"""When the agent was heard of last, by our own clock: the driver's need not agree with it."""

from __future__ import annotations

from streamjob_agent.wire import AgentStatus


class Heartbeat:
    """Remembers what the agent's clock said, and when that last changed.

    A report that is there at the first look counts as heard then, however old it is: its age cannot be known.
    """

    def __init__(self) -> None:
        self._told: tuple[str, float] | None = None
        self._heard_s: float | None = None

    def heard_s(self, agent: AgentStatus | None, now_s: float) -> float | None:
        """Seconds since the epoch when its newest report was seen first; None when there was none."""
        told = None if agent is None else (agent.application_id, agent.now_s)
        if told != self._told:
            self._told, self._heard_s = told, None if told is None else now_s
        return self._heard_s
