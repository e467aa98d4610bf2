"""What a turn sees of a job between two cycles. Pure."""

from __future__ import annotations

from collections.abc import Hashable

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.api.reading import Reading
from streamjob_operator.kube.names import Annotation
from streamjob_operator.kube.partition_map.maps import MapView


def spec_mark(reading: Reading) -> Hashable:
    """What a person can change that the loop should see at once."""
    told = (reading.annotations.get(one.value) for one in Annotation)
    return (reading.generation, *told)


def news_of(seen: MapView) -> AgentStatus | None:
    """The agent's report, None where there is nothing new in it: what it said before the newest assignment would be
    decided upon twice."""
    agent = seen.agent
    if agent is None or seen.generation == 0 or agent.refused is not None:
        return agent
    speaks = agent.generation_applied == seen.generation or agent.application_id != seen.spec.get("applicationId")
    return agent if speaks else None
