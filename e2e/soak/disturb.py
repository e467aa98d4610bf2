"""A controller without a plan: key groups at random, executors drained, asked for and killed, for hours."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import signal
from collections.abc import Mapping

from e2e.compatibility.running import NotSeen, Running
from streamjob_agent.wire import AgentStatus, QueryStatus

EXECUTORS = 3
MOVE_S, DRAIN_S, KILL_S = 8.0, 150.0, 210.0
"""Between two of a kind, in the mean."""
PATIENCE_S = 120.0
"""A drain that takes longer is called off: queries come and go, and one that waits for data leaves nothing behind."""


@dataclasses.dataclass(slots=True)
class Disturbed:
    """What was done."""

    moves: int = 0
    refused: int = 0
    drained: int = 0
    called_off: int = 0
    killed: int = 0


class Disturber:
    """Called every few seconds with the agent's status."""

    def __init__(self, running: Running, chance: random.Random, now_s: float) -> None:
        self.done = Disturbed()
        self._running, self._chance = running, chance
        self._leaver: str | None = None
        self._since_s = now_s
        self._next_s = {"move": now_s, "drain": now_s + DRAIN_S, "kill": now_s + KILL_S}

    def step(self, status: AgentStatus, now_s: float) -> None:
        """Whatever is due."""
        if not status.queries:
            return
        ready = sorted(one.executor_id for one in status.executors if one.state == "ready")
        if self._leaver is not None:
            self._drain_on(status, now_s)
        elif len(ready) == EXECUTORS and self._due("drain", now_s, DRAIN_S):
            self._leaver, self._since_s = self._chance.choice(ready), now_s
        alive = sorted(one.executor_id for one in status.executors if one.state != "dead")
        if len(alive) == EXECUTORS and self._due("kill", now_s, KILL_S):
            self._kill(status, self._chance.choice(alive))
        stay = [one for one in ready if one != self._leaver]
        if self._due("move", now_s, MOVE_S) and stay:
            self._move(status, self._chance.choice(status.queries), stay)

    def step_alone(self, processes: Mapping[str, int], now_s: float) -> None:
        """Without an agent nothing is drained: an executor is killed then, so that as many come and go."""
        for what, mean_s in (("drain", DRAIN_S), ("kill", KILL_S)):
            if len(processes) == EXECUTORS and self._due(what, now_s, mean_s):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._chance.choice(sorted(processes.values())), signal.SIGKILL)
                    self.done.killed += 1
                return

    def _due(self, what: str, now_s: float, mean_s: float) -> bool:
        if now_s < self._next_s[what]:
            return False
        self._next_s[what] = now_s + self._chance.uniform(0.5, 1.5) * mean_s
        return True

    def _kill(self, status: AgentStatus, executor_id: str) -> None:
        """Unless it has gone since the status was told."""
        with contextlib.suppress(NotSeen, ProcessLookupError):
            self._running.kill_executor(status, executor_id)
            self.done.killed += 1

    def _drain_on(self, status: AgentStatus, now_s: float) -> None:
        """Marked until it is empty, then removed; executors that are lacking are asked for with the next move."""
        leaver = next((one for one in status.executors if one.executor_id == self._leaver), None)
        if leaver is None or leaver.state == "dead":
            self._leaver = None
            self.done.drained += 1
        elif now_s > self._since_s + PATIENCE_S:
            self._leaver = None
            self.done.called_off += 1
        elif not leaver.groups:
            fields = {"marked_for_removal": (leaver.executor_id,), "remove": (leaver.executor_id,)}
            self._assign(status, status.queries[0], executors_target=EXECUTORS - 1, **fields)

    def _move(self, status: AgentStatus, query: QueryStatus, stay: list[str]) -> None:
        owners = {operator: tuple(self._chance.choice(stay) for _ in row) for operator, row in query.owners.items()}
        marked = (self._leaver,) if self._leaver else ()
        target = EXECUTORS - len(marked)
        if self._assign(status, query, owners=owners, marked_for_removal=marked, executors_target=target):
            self.done.moves += sum(
                old != new
                for operator, row in query.owners.items()
                for old, new in zip(row, owners[operator], strict=True)
            )

    def _assign(self, status: AgentStatus, query: QueryStatus, **fields: object) -> bool:
        """Whether the agent took it. It refuses what has changed since it was asked: an executor, a query."""
        try:
            self._running.assign(status, query.query_id, **fields)
        except (NotSeen, OSError):
            self.done.refused += 1
            return False
        return True
