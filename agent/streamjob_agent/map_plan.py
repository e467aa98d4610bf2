"""A plan as a PartitionMap's spec holds it: one assignment for each query of the driver, of one generation. Pure.

Executors, marks and removals are the driver's and stand once, beside what the leading query owns; `otherQueries` has
what every further one owns. An agent that knows one query reads the leading one, and tells what it left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streamjob_agent.kinds import MOST_GROUPS, WireError
from streamjob_agent.map_form import PACE_NAMES, SPEC_NAMES, assignment_from_spec, assignment_to_spec
from streamjob_agent.wire import Assignment

OTHERS = "otherQueries"
MOST_OTHERS = 63
"""Queries beside the leading one."""
_OWN = ("queryId", "owners", "arrivals", "nextStart", "moveOrder", "moveCostSeconds", "pace")
_OWN_FIELDS = ("query_id", "owners", "arrivals", "known_executors", "next_start", "move_order", "move_cost_s", "pace")


def plan_to_spec(plan: Sequence[Assignment]) -> dict[str, Any]:
    """The spec of a PartitionMap for assignments of one generation, that of the leading query first; at least one.

    Raises WireError when they say different things of the driver, or as :func:`assignment_to_spec` does.
    """
    lead, *others = plan
    for other in others:
        if _of_the_driver(other) != _of_the_driver(lead):
            raise WireError(f"{OTHERS}: {other.query_id} says another thing of generation or executors than the first")
    spec = assignment_to_spec(lead)
    parts = [assignment_to_spec(other) for other in others]
    if known := next((part["knownExecutors"] for part in parts if "knownExecutors" in part), None):
        spec.setdefault("knownExecutors", known)
    own = [{name: part[name] for name in _OWN if name in part} for part in parts]
    return {**spec, OTHERS: own} if own else spec


def plan_from_spec(spec: Mapping[str, Any]) -> tuple[Assignment, ...]:
    """Inverse of :func:`plan_to_spec`; raises WireError with a sentence on anything else."""
    lead = assignment_from_spec(_without_strangers(spec))
    plan = [lead]
    shared = {name: value for name, value in spec.items() if name not in (*_OWN, OTHERS)}
    groups = _groups(lead)
    for at, own in enumerate(_others(spec)):
        try:
            plan.append(assignment_from_spec(_without_strangers({**shared, **own})))
        except WireError as error:
            raise WireError(f"{OTHERS}, {at}: {error}") from error
        groups += _groups(plan[-1])
        if groups > MOST_GROUPS:
            raise WireError(f"{OTHERS}: more than {MOST_GROUPS} key groups in all")
    twice = len(plan) - len({one.query_id for one in plan})
    if twice:
        raise WireError(f"{OTHERS}: {twice} of {len(plan)} queries are named twice, each may be once")
    return tuple(plan)


def unknown_fields(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Fields of a spec that this version does not know, those of objects in it as `pace.NAME`; sorted."""
    known = {*SPEC_NAMES, "form", OTHERS}
    found = {str(name) for name in spec if name not in known} | set(_unknown_pace(spec, ""))
    given = spec.get(OTHERS)
    for own in given if isinstance(given, (list, tuple)) else ():
        if isinstance(own, Mapping):
            found |= {f"{OTHERS}.{name}" for name in own if name not in _OWN} | set(_unknown_pace(own, f"{OTHERS}."))
    return tuple(sorted(found))


def _unknown_pace(spec: Mapping[str, Any], where: str) -> Iterator[str]:
    pace = spec.get("pace")
    if isinstance(pace, Mapping):
        yield from (f"{where}pace.{name}" for name in pace if name not in PACE_NAMES)


def _others(spec: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    given = spec.get(OTHERS) or ()
    if not isinstance(given, (list, tuple)) or len(given) > MOST_OTHERS:
        raise WireError(f"{OTHERS}: {str(given)[:80]!r} given, a list of at most {MOST_OTHERS} objects is needed")
    for own in given:
        if not isinstance(own, Mapping):
            raise WireError(f"{OTHERS}: {str(own)[:80]!r} given, an object is needed")
        yield {name: own[name] for name in _OWN if name in own}


def _without_strangers(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Executors that were known matter to a query with arrivals alone, but are written once for all."""
    return {name: value for name, value in spec.items() if name != "knownExecutors" or spec.get("arrivals")}


def _of_the_driver(assignment: Assignment) -> dict[str, Any]:
    fields = (field.name for field in dataclasses.fields(assignment) if field.name not in _OWN_FIELDS)
    return {name: getattr(assignment, name) for name in fields}


def _groups(assignment: Assignment) -> int:
    return sum(map(len, assignment.owners.values()))
