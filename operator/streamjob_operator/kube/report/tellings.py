"""Which events a turn gives: one for each decision, for each new reason not to act, and for what became wrong. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamjob_agent.wire import STATES
from streamjob_operator.counting import moves_told
from streamjob_operator.kube.models.status import Condition as Held
from streamjob_operator.kube.models.status import Status
from streamjob_operator.kube.names import Condition, KubeReason, Phase
from streamjob_operator.kube.report.decisions import HELD, REFUSED, outcome_of
from streamjob_operator.kube.report.events import Telling
from streamjob_operator.kube.report.facts import Facts
from streamjob_operator.values import Reason

_NUMBERS = re.compile(r"(\d+(\.\d+)?(ms|s|m|h|d)?)+")
TOLD = {
    Condition.ACCEPTED: "False",
    Condition.READY: "False",
    Condition.STALLED: "True",
    Condition.ACTUATION_AVAILABLE: "False",
    Condition.EXECUTORS_AVAILABLE: "False",
    Condition.FAIL_SAFE: "True",
    Condition.MORE_KEY_GROUPS: "True",
}
"""Conditions that are told of when they come to have this status, or another reason for it."""
KNOWN = frozenset((*STATES, *(one.value for one in Reason), *(one.value for one in KubeReason)))
"""Reasons of events: the agent's own may be any word, and one that changes with each report made an event each time."""
SILENT = (Reason.WARMING_UP,)
"""What passes by itself, and is no news: the conditions say it."""
WARNINGS = (
    Reason.METRICS_UNAVAILABLE,
    Reason.METRICS_STALE,
    Reason.METRICS_INCOMPLETE,
    Reason.EXECUTORS_TIMED_OUT,
    Reason.PLAN_REFUSED,
    Reason.PLANNER_FAILED,
    Reason.PLANNER_OVERRAN,
    Reason.ACTUATION_OFF,
    Reason.ACTUATOR_UNAVAILABLE,
    Reason.FAIL_SAFE_OUT,
    Reason.FAIL_SAFE_FLOOR,
)


def tellings(before: Status, after: Status, facts: Facts) -> Iterator[Telling]:
    """In the order in which they should be told."""
    yield from _steps_of_a_person(before, after)
    yield from _conditions(before, after)
    if facts.cycle is not None:
        yield from _decision(before, after, facts)


def _steps_of_a_person(before: Status, after: Status) -> Iterator[Telling]:
    """What somebody asked for and is followed from this turn on; a suspension is told by Ready."""
    stop = None if after.handled is None else after.handled.stop
    if stop is not None and (before.handled is None or before.handled.stop != stop):
        note = "The running moves and drains end at the next batch boundary, as streamjob.dev/stop asks."
        yield Telling(reason=KubeReason.STOPPED.value, note=note, action="Stop", key=stop)
    if before.phase is Phase.SUSPENDED and after.phase not in (None, Phase.SUSPENDED):
        note = "spec.suspend is no longer true; the driver is started from its checkpoint."
        yield Telling(reason=KubeReason.RESUMED.value, note=note, action="Resume")


def _conditions(before: Status, after: Status) -> Iterator[Telling]:
    known = {one.type: one for one in before.conditions}
    became = [one for one in after.conditions if _became(one, known.get(one.type))]
    # Not to be ready is no alarm in itself, it is one when another condition says the same.
    alarming = {one.reason for one in became if one.type != Condition.READY.value}
    for one in {one.reason: one for one in reversed(became)}.values():
        # Of the agent's own words there is one event for each reason, however often they change.
        key = "" if one.type == Condition.ACTUATION_AVAILABLE.value else shape(one.message)
        reason = one.reason if one.reason in KNOWN else Reason.ACTUATION_OFF.value
        yield Telling(reason=reason, note=one.message, action="Reconcile", key=key, warning=one.reason in alarming)
    for one in after.conditions:
        old = known.get(one.type)
        if one.type == Condition.READY.value and one.status == "True" and (old is None or old.status != "True"):
            yield Telling(reason=one.reason, note=one.message, action="Reconcile")


def shape(note: str) -> str:
    """A sentence without its numbers and durations: one that differs in these alone is the same event again.

    The note of an event that is there cannot be changed, so what it tells otherwise needs another one.
    """
    return _NUMBERS.sub("#", note)


def _became(one: Held, old: Held | None) -> bool:
    if one.status != TOLD.get(Condition(one.type)):
        return False
    if old is None or (old.status, old.reason) != (one.status, one.reason):
        return True
    # A spec that was edited and is still wrong: in another way, as far as anybody knows.
    edited = one.observed_generation != old.observed_generation
    return one.type == Condition.ACCEPTED.value and edited and one.message != old.message


def _decision(before: Status, after: Status, facts: Facts) -> Iterator[Telling]:
    if facts.cycle is None:
        return
    record = facts.cycle.record
    outcome = outcome_of(record)
    if outcome.decision in (HELD, REFUSED):
        last = before.last_cycle
        if outcome.reason not in SILENT and (last is None or last.reason != outcome.reason.value):
            warning = outcome.reason in WARNINGS
            yield Telling(reason=outcome.reason.value, note=outcome.message, action="Plan", warning=warning)
        return
    generation = "" if record.receipt is None else str(record.receipt.generation)
    planned = 0 if record.verdict.plan is None else len(record.verdict.plan.moves)
    # Without measurements the message says how many.
    counted = "" if record.model is None else f", {moves_told(planned)}"
    note = f"{outcome.message} Generation {generation}{counted}."
    warning = outcome.reason in WARNINGS
    yield Telling(reason=outcome.reason.value, note=note, action="Rebalance", key=generation, warning=warning)
