"""Actuator that hands assignments to the agent over HTTP, after looking at it once more."""

from __future__ import annotations

from streamjob_operator.agent_http.client import AgentClient, Refused
from streamjob_operator.assignment import make_assignments, refusal_reason
from streamjob_operator.values import Memory, Receipt, Snapshot, Verdict


class AgentActuator:
    """Writes one assignment for each acting verdict and query."""

    def __init__(self, client: AgentClient) -> None:
        self._client = client

    def actuate(self, snapshot: Snapshot, verdict: Verdict, memory: Memory) -> Receipt:
        """Raises Stale when the driver, the query or the generation is another one by now; Unavailable."""
        assignments = make_assignments(snapshot, verdict, memory, self._client.status())
        try:
            for assignment in assignments:
                self._client.assign(assignment)
        except Refused as refusal:
            return Receipt(generation=None, accepted=False, reason=refusal_reason(str(refusal)), message=str(refusal))
        return Receipt(generation=assignments[-1].generation, accepted=True, reason=verdict.reason, message="")
