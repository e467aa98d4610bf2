"""When the next cycle of a job is due: each statistics period, and earlier when something changed. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.maps import MapView
from streamjob_operator.kube.names import Annotation
from streamjob_operator.kube.reading import Reading

EARLY_GAP_S = 5.0
"""Changes that come in quick succession are looked at together: two cycles are at least this far apart, or a fifth of
the statistics period if that is less."""


@dataclasses.dataclass(kw_only=True)
class Cadence:
    """`last_s` is when the newest cycle began, `first_s` before which none makes sense."""

    last_s: float | None = None
    first_s: float = 0.0
    spec: Hashable = None
    agent: Hashable = None

    def due_s(self, period_s: float, spec: Hashable, agent: Hashable) -> float:
        """When the next cycle should begin, seconds since the epoch."""
        if self.last_s is None:
            return self.first_s
        early = (self.spec is not None and spec != self.spec) or (self.agent is not None and agent != self.agent)
        gap_s = min(EARLY_GAP_S, period_s / 5) if early else period_s
        return max(self.last_s + gap_s, self.first_s)

    def done(self, now_s: float, spec: Hashable, agent: Hashable) -> None:
        """A cycle began at now_s, with these in force."""
        self.last_s, self.spec, self.agent = now_s, spec, agent


def spec_mark(reading: Reading) -> Hashable:
    """What a person can change that the loop should see at once."""
    told = (reading.annotations.get(one.value) for one in Annotation)
    return (reading.generation, *told)


def agent_mark(agent: AgentStatus | None) -> Hashable:
    """What the agent can report that the loop should see at once: a new driver, executors that came or went, refusals.

    Moves that end are no reason: nothing has been measured of the new placement then. An executor that is empty is one.
    """
    if agent is None:
        return None
    executors = tuple(sorted((one.executor_id, one.state, _empty(one.state, one.groups)) for one in agent.executors))
    return (agent.application_id, agent.actuation, agent.refused, executors)


def speaks_of_newest(seen: MapView) -> bool:
    """Whether the agent's report is about the newest assignment: what it said before would be decided upon twice."""
    agent = seen.agent
    if agent is None or seen.generation == 0 or agent.refused is not None:
        return True
    return agent.generation_applied == seen.generation or agent.application_id != seen.spec.get("applicationId")


def _empty(state: str, groups: int) -> bool:
    return state == "draining" and groups == 0
