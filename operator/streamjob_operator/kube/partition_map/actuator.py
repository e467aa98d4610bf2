"""Actuator that writes the PartitionMap, after looking at it once more."""

from __future__ import annotations

from collections.abc import Iterator

from streamjob_agent.wire import AgentStatus, Assignment, QueryStatus
from streamjob_operator.assignment import carried_on, make_assignments
from streamjob_operator.kube.api.refusals import Conflict, Refused
from streamjob_operator.kube.partition_map.maps import Maps, MapView
from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.values import Memory, Reason, Receipt, Snapshot, Verdict

ATTEMPTS = 5
"""The agent writes its status into the same object: each time it does so in between, we look again."""


class MapActuator:
    """Writes one plan for each acting verdict.

    The API server takes the plan only if nothing has changed since this looked: two operators that both believe
    to be the leader cannot both write the same generation.
    """

    def __init__(self, maps: Maps) -> None:
        self._maps = maps

    def actuate(self, snapshot: Snapshot, verdict: Verdict, memory: Memory) -> Receipt:
        """Raises Stale when the driver, the query or the generation is another one by now; Unavailable."""
        for _ in range(ATTEMPTS):
            seen = self._look(memory)
            plan = whole(make_assignments(snapshot, verdict, memory, _agent(seen)), seen)
            try:
                self._maps.write(plan, seen)
            except Conflict:
                continue
            except Refused as refusal:
                message = f"The API server does not take the PartitionMap: {refusal}"
                return Receipt(generation=None, accepted=False, reason=Reason.PLAN_REFUSED, message=message)
            return Receipt(generation=plan[0].generation, accepted=True, reason=verdict.reason, message="")
        raise Unavailable(f"The PartitionMap changed at each of {ATTEMPTS} attempts to write it.")

    def _look(self, memory: Memory) -> MapView:
        seen = self._maps.read()
        if seen is None:
            raise Stale("The PartitionMap is gone.")
        if seen.generation > memory.generation:
            raise Stale(f"Generation {seen.generation} is written, the plan follows generation {memory.generation}.")
        return seen


def whole(plan: tuple[Assignment, ...], seen: MapView) -> tuple[Assignment, ...]:
    """With the owners of the plan that goes on: a driver that is started again places its key groups by the map.

    A query that runs and was not planned, as it has just begun, keeps what the map said of it.
    """
    agent, lead = _agent(seen), plan[0]
    queries = {one.query_id: one for one in agent.queries}
    goes_on = (one for one in seen.readable_plan() if one.application_id == lead.application_id)
    before = {one.query_id: one for one in goes_on if one.query_id in queries}
    ready = {one.executor_id for one in agent.executors if one.state == "ready"} - set(lead.marked_for_removal)
    planned = {one.query_id for one in plan}
    every = (*plan, *(_bare(lead, query_id) for query_id in before if query_id not in planned))
    return tuple(_carried_on(every, before, queries, ready))


def _carried_on(
    plan: tuple[Assignment, ...], before: dict[str, Assignment], queries: dict[str, QueryStatus], ready: set[str]
) -> Iterator[Assignment]:
    for one in plan:
        old = before.get(one.query_id)
        yield one if old is None else carried_on(one, old, queries[one.query_id], ready)


def _bare(lead: Assignment, query_id: str) -> Assignment:
    """What a plan says of the driver, for a query of which it says nothing else."""
    return Assignment(
        generation=lead.generation,
        application_id=lead.application_id,
        query_id=query_id,
        executors_target=lead.executors_target,
        marked_for_removal=lead.marked_for_removal,
        remove=lead.remove,
    )


def _agent(seen: MapView) -> AgentStatus:
    if seen.agent is None:
        raise Stale("The agent has not reported yet.")
    return seen.agent
