"""Actuator that writes the PartitionMap, after looking at it once more."""

from __future__ import annotations

from streamjob_agent.wire import AgentStatus, Assignment, QueryStatus
from streamjob_operator.assignment import carried_on, make_assignment, same_world
from streamjob_operator.kube.maps import Maps, MapView
from streamjob_operator.kube.refusals import Conflict, Refused
from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.values import Memory, Reason, Receipt, Snapshot, Verdict

ATTEMPTS = 5
"""The agent writes its status into the same object: each time it does so in between, we look again."""


class MapActuator:
    """Writes one assignment for each acting verdict.

    The API server takes the assignment only if nothing has changed since this looked: two operators that both believe
    to be the leader cannot both write the same generation.
    """

    def __init__(self, maps: Maps) -> None:
        self._maps = maps

    def actuate(self, snapshot: Snapshot, verdict: Verdict, memory: Memory) -> Receipt:
        """Raises Stale when the driver, the query or the generation is another one by now; Unavailable."""
        for _ in range(ATTEMPTS):
            seen = self._look(memory)
            query = same_world(_agent(seen), snapshot, memory)
            assignment = _whole(make_assignment(snapshot, verdict, memory, query), seen, query)
            try:
                self._maps.write(assignment, seen)
            except Conflict:
                continue
            except Refused as refusal:
                message = f"The API server does not take the PartitionMap: {refusal}"
                return Receipt(generation=None, accepted=False, reason=Reason.PLAN_REFUSED, message=message)
            return Receipt(generation=assignment.generation, accepted=True, reason=verdict.reason, message="")
        raise Unavailable(f"The PartitionMap changed at each of {ATTEMPTS} attempts to write it.")

    def _look(self, memory: Memory) -> MapView:
        seen = self._maps.read()
        if seen is None:
            raise Stale("The PartitionMap is gone.")
        if seen.generation > memory.generation:
            raise Stale(f"Generation {seen.generation} is written, the plan follows generation {memory.generation}.")
        return seen


def _whole(assignment: Assignment, seen: MapView, query: QueryStatus) -> Assignment:
    """With the owners of the plan that goes on: a driver that is started again places its key groups by the map."""
    before = seen.assignment()
    if before is None or assignment.owners:
        return assignment
    ready = {one.executor_id for one in _agent(seen).executors if one.state == "ready"}
    return carried_on(assignment, before, query, ready - set(assignment.marked_for_removal))


def _agent(seen: MapView) -> AgentStatus:
    if seen.agent is None:
        raise Stale("The agent has not reported yet.")
    return seen.agent
