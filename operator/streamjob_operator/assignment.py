"""From a verdict to the assignment the agent reads: the same for every actuator."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence

from streamjob_agent.wire import AgentStatus, Assignment, GroupKey, Pace, QueryStatus
from streamjob_operator.ports import Stale
from streamjob_operator.steps.estimate import node_names
from streamjob_operator.values import Arrivals, Memory, NextStart, QueryPart, Reason, Snapshot, Verdict
from streamjob_planners.model import GroupId, Plan

_REFUSALS = {"ActuationOff": Reason.ACTUATION_OFF}
_STALE_CODES = ("StaleApplication", "StaleGeneration", "UnknownQuery", "NotReady", "UnknownExecutor", "HoldsGroups")


def same_world(status: AgentStatus, snapshot: Snapshot, memory: Memory) -> QueryStatus:
    """The query's status; raises Stale when the driver, the query or the generation is another one by now."""
    if status.application_id != snapshot.application_id:
        raise Stale(f"The plan is for driver {snapshot.application_id}, the driver is {status.application_id} now.")
    if (status.generation_applied or 0) > memory.generation:
        raise Stale(
            f"Generation {status.generation_applied} is applied, the plan follows generation {memory.generation}."
        )
    return _running(status, snapshot.query_id)


def _running(status: AgentStatus, query_id: str) -> QueryStatus:
    query = next((one for one in status.queries if one.query_id == query_id), None)
    if query is None:
        raise Stale(f"The query {query_id} does not run any more.")
    return query


def make_assignments(
    snapshot: Snapshot, verdict: Verdict, memory: Memory, status: AgentStatus
) -> tuple[Assignment, ...]:
    """The verdict for each query of the snapshot, the leading one first; raises Stale as :func:`same_world`.

    Generation, executors, marks and removals are the driver's, so each of them says the same of these.
    """
    query = same_world(status, snapshot, memory)
    if not snapshot.queries:
        return (make_assignment(snapshot, verdict, memory, query),)
    return tuple(
        make_assignment(snapshot, verdict, memory, _running(status, part.query_id), part) for part in snapshot.queries
    )


def make_assignment(
    snapshot: Snapshot, verdict: Verdict, memory: Memory, query: QueryStatus, part: QueryPart | None = None
) -> Assignment:
    """The verdict in the agent's words; rows are as long as the query's, groups that nobody measured stay free.

    `part` is the query's among several. The agent makes at least one move at each boundary, so that a job without room
    still converges.
    """
    own = snapshot.group_ids if part is None else tuple(map(part.own, snapshot.group_ids))
    keys = [None if one is None else GroupKey(operator=one.operator, partition=one.partition) for one in own]
    costs_s = {key: cost_s for group, cost_s in _moves(verdict) if (key := keys[group]) is not None}
    return Assignment(
        generation=memory.generation + 1,
        application_id=snapshot.application_id,
        query_id=query.query_id,
        executors_target=verdict.executors_target,
        marked_for_removal=verdict.marked_for_removal,
        remove=verdict.remove,
        owners=_owners(snapshot, own, verdict.plan, query),
        arrivals=_places(own, verdict.arrivals, query),
        next_start=_next_start(own, None if verdict.plan is None else verdict.next_start, query),
        known_executors=() if verdict.arrivals is None else tuple(one.executor_id for one in snapshot.executors),
        move_order=tuple(costs_s),
        move_cost_s=costs_s,
        pace=Pace(max_cost_s=verdict.boundaries_s.get(query.query_id, verdict.boundary_s)),
    )


OwnGroups = Sequence[GroupId | None]
"""Key groups as the query itself numbers them, None for those of other queries."""


def _owners(
    snapshot: Snapshot, own: OwnGroups, plan: Plan | None, query: QueryStatus
) -> dict[int, tuple[str | None, ...]]:
    if plan is None:
        return {}
    live, nodes = {executor.executor_id for executor in snapshot.executors}, node_names(snapshot)
    rows: dict[int, list[str | None]] = {operator: [None] * len(row) for operator, row in query.owners.items()}
    for group, node in zip(own, plan.node_of.tolist(), strict=True):
        row = [] if group is None else rows.get(group.operator, [])
        if group is not None and group.partition < len(row) and nodes[node] in live:
            row[group.partition] = nodes[node]
    return {operator: tuple(row) for operator, row in rows.items()}


def carried_on(assignment: Assignment, before: Assignment, query: QueryStatus, open_to: Collection[str]) -> Assignment:
    """An assignment without owners with those of the one before it: for a reader that sees the newest one only.

    Places that were taken are the names of their executors now; owners outside `open_to` are left out.
    """
    if assignment.owners or (before.application_id, before.query_id) != (assignment.application_id, query.query_id):
        return assignment
    arrived = query.arrived
    owners: dict[int, tuple[str | None, ...]] = {}
    arrivals: dict[int, tuple[int | None, ...]] = {}
    for operator, row in before.owners.items():
        places = before.arrivals.get(operator, (None,) * len(row))
        named = (
            arrived[place - 1] if place and place <= len(arrived) else one
            for one, place in zip(row, places, strict=True)
        )
        owners[operator] = tuple(one if one in open_to else None for one in named)
        left = tuple(place - len(arrived) if place and place > len(arrived) else None for place in places)
        if any(left):
            arrivals[operator] = left
    return dataclasses.replace(
        assignment,
        owners=owners,
        arrivals=arrivals,
        known_executors=(*before.known_executors, *arrived) if arrivals else (),
        next_start=before.next_start,
        move_order=before.move_order,
        move_cost_s=before.move_cost_s,
        pace=before.pace,
    )


def _moves(verdict: Verdict) -> Iterator[tuple[int, float]]:
    """Each key group that moves, in order, and what that costs: first those whose target exists."""
    if verdict.plan is None:
        return
    moves = verdict.plan.moves
    costs_s = verdict.move_cost_s or tuple(move.cost_s for move in moves)
    yield from ((move.group, cost_s) for move, cost_s in zip(moves, costs_s, strict=True))
    if verdict.arrivals is not None:
        yield from zip(verdict.arrivals.groups, verdict.arrivals.cost_s, strict=True)


def _places(own: OwnGroups, arrivals: Arrivals | None, query: QueryStatus) -> dict[int, tuple[int | None, ...]]:
    if arrivals is None:
        return {}
    rows: dict[int, list[int | None]] = {operator: [None] * len(row) for operator, row in query.owners.items()}
    for at, place in zip(arrivals.groups, arrivals.places, strict=True):
        group = own[at]
        if group is not None and group.partition < len(rows.get(group.operator, ())):
            rows[group.operator][group.partition] = place
    return {operator: tuple(row) for operator, row in rows.items()}


def _next_start(own: OwnGroups, start: NextStart | None, query: QueryStatus) -> dict[int, tuple[int | None, ...]]:
    if start is None:
        return {}
    rows: dict[int, list[int | None]] = {operator: [None] * len(row) for operator, row in query.owners.items()}
    for group, place in zip(own, start.place_of.tolist(), strict=True):
        if group is not None and group.partition < len(rows.get(group.operator, ())):
            rows[group.operator][group.partition] = place + 1
    return {operator: tuple(row) for operator, row in rows.items()}


def refusal_reason(refusal: str) -> Reason:
    """The reason code of what the agent says when it refuses, `Code: sentence`."""
    code = refusal.partition(":")[0].strip()
    return Reason.PLAN_STALE if code in _STALE_CODES else _REFUSALS.get(code, Reason.PLAN_REFUSED)
