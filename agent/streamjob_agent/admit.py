"""Whether an assignment may be taken: a stale or impossible one is refused with a code and a sentence. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping

from streamjob_agent.wire import Assignment


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the agent knows when an assignment comes in.

    Attributes:
        application_id: of this driver.
        actuation_off: why actuation is off, None when it is on.
        operators: query id -> operator -> number of partitions, of every active query.
        live: executors alive, leaving ones among them.
        past: executors that are leaving or gone.
        held: executor -> key groups that run there or are registered there.
        accepted: query id -> the newest accepted assignment of this driver.
    """

    application_id: str
    actuation_off: str | None
    operators: Mapping[str, Mapping[int, int]]
    live: frozenset[str]
    past: frozenset[str]
    held: Mapping[str, int]
    accepted: Mapping[str, Assignment]


def refusal(assignment: Assignment, view: View) -> str | None:
    """`Code: sentence` of the first thing that speaks against the assignment, None when it may be taken."""
    return next((found for check in _CHECKS for found in check(assignment, view)), None)


def _actuation(_: Assignment, view: View) -> Iterator[str]:
    if view.actuation_off is not None:
        yield f"ActuationOff: this agent moves nothing: {view.actuation_off}"


def _application(assignment: Assignment, view: View) -> Iterator[str]:
    if assignment.application_id != view.application_id:
        yield (
            f"StaleApplication: application_id {assignment.application_id!r} given, the driver is "
            f"{view.application_id!r}; its executor ids mean other processes"
        )


def _query(assignment: Assignment, view: View) -> Iterator[str]:
    operators = view.operators.get(assignment.query_id)
    if operators is None:
        known = ", ".join(sorted(view.operators)) or "none"
        yield f"UnknownQuery: query_id {assignment.query_id!r} given, active queries are: {known}"
    elif not operators and assignment.owners:
        yield "NotReady: the query's operators are not known before its first batch; send the assignment again later"


def _generation(assignment: Assignment, view: View) -> Iterator[str]:
    newest = view.accepted.get(assignment.query_id)
    if newest is None or assignment == newest:  # the same one again is a repeated request, not a stale one
        return
    if assignment.generation < newest.generation:
        yield f"StaleGeneration: generation {assignment.generation} given, {newest.generation} is applied already"
    elif assignment.generation == newest.generation:
        yield f"StaleGeneration: generation {assignment.generation} given twice, with another content"


def _shape(assignment: Assignment, view: View) -> Iterator[str]:
    operators = view.operators.get(assignment.query_id, {})
    rows = (
        ("owners", assignment.owners),
        ("places in arrivals", assignment.arrivals),
        ("places in next_start", assignment.next_start),
    )
    for what, operator, row in ((what, operator, row) for what, given in rows for operator, row in given.items()):
        if operator not in operators:
            known = ", ".join(str(other) for other in sorted(operators))
            yield f"WrongShape: operator {operator} given, the query's operators are: {known}"
        elif len(row) != operators[operator]:
            yield f"WrongShape: operator {operator} has {len(row)} {what}, {operators[operator]} partitions are needed"


def _executors(assignment: Assignment, view: View) -> Iterator[str]:
    owners = {owner for row in assignment.owners.values() for owner in row if owner is not None}
    yield from _unknown("owners", owners, view.live - view.past)
    known = view.live | view.past
    yield from _unknown("marked_for_removal", assignment.marked_for_removal, known)
    yield from _unknown("remove", assignment.remove, known)


def _unknown(field: str, given: Iterable[str], known: Collection[str]) -> Iterator[str]:
    strangers = sorted(set(given) - set(known))
    if strangers:
        yield f"UnknownExecutor: {field} names {_some(strangers)}, known are {_some(sorted(known)) or 'none'}"


def _marks(assignment: Assignment, view: View) -> Iterator[str]:
    ready = view.live - view.past
    if ready and ready <= set(assignment.marked_for_removal):
        yield "AllMarked: every live executor is marked for removal, no one is left to hold key groups"
    if assignment.executors_target is not None and assignment.executors_target < 1:
        yield f"WrongTarget: executors_target {assignment.executors_target} given, 1 or more is needed"


def _removal(assignment: Assignment, view: View) -> Iterator[str]:
    for executor in assignment.remove:
        if executor not in assignment.marked_for_removal:
            yield f"NotMarked: remove names {executor}, which is not in marked_for_removal"
        elif executor in view.live and view.held.get(executor, 0):
            yield f"HoldsGroups: remove names {executor}, which still holds {view.held[executor]} key groups"


def _some(names: Collection[str]) -> str:
    """At most ten names, so that a sentence stays one."""
    shown = ", ".join(list(names)[:10])
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"


_CHECKS = (_actuation, _application, _query, _generation, _shape, _executors, _marks, _removal)
