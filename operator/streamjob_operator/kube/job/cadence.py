"""What a turn sees of a job between two cycles. Pure."""

from __future__ import annotations

from collections.abc import Hashable

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.api.reading import Reading
from streamjob_operator.kube.names import Annotation
from streamjob_operator.kube.partition_map.maps import MapView
from streamjob_operator.waking.cadence import Seen
from streamjob_operator.waking.rows import Rows


def view_of(reading: Reading, seen: MapView, rows: Rows | None) -> Seen:
    """What may wake a cycle: what a person wrote, the agent's report, and the newest batches where they are at hand."""
    return Seen(status=news_of(seen), rows=rows, spec=_spec_mark(reading))


def _spec_mark(reading: Reading) -> Hashable:
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
