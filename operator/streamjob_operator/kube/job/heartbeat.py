"""When the agent was heard of last, by our own clock: the driver's need not agree with it."""

from __future__ import annotations

from streamjob_agent.wire import AgentStatus


class Heartbeat:
    """Remembers what the agent's clock said, and when that last changed.

    How old a report is that is there at the first look cannot be known. It counts as heard then, or as silent for as
    long as an operator before this one has found it to be; `certain` says that one has come since.
    """

    def __init__(self) -> None:
        self._looked = False
        self._told: tuple[str, float] | None = None
        self._heard_s: float | None = None
        self.certain = False

    def heard_s(self, agent: AgentStatus | None, now_s: float, silent_s: float = 0.0) -> float | None:
        """Seconds since the epoch when its newest report was seen first; None when there was none.

        `silent_s`: for so long, at least, it was silent when it was looked at before the first look of this one.
        """
        told = None if agent is None else (agent.application_id, agent.now_s)
        if told != self._told:
            self.certain = self._looked
            before_s = 0.0 if self._looked else silent_s
            self._told, self._heard_s = told, None if told is None else now_s - before_s
        self._looked = True
        return self._heard_s
