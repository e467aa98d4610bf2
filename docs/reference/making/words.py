"""Pages of words: conditions, phases, reasons, events, annotations, labels."""

from __future__ import annotations

from making import agent_codes
from making.sources import constant_doc, member_docs
from making.tables import code, table
from streamjob_operator.kube import names
from streamjob_operator.kube.report.tellings import TOLD, WARNINGS
from streamjob_operator.reasons import ACTING, Advice, Reason

FOLLOWED = (names.KubeReason.STOPPED, names.KubeReason.RESUMED)
TO_DO = " To do: "
CONDITIONS = """# Phases and conditions of a StreamJob

## Phases

`status.phase`, one word for what the job is doing.

{phases}
## Conditions

`status.conditions`: each has a status (True, False or Unknown), a reason ([reasons.md](reasons.md)), a sentence, the
generation of the spec that it speaks of, and the time at which its status last changed.
`kubectl wait --for=condition=Ready sj/NAME` waits for one.

{conditions}"""
REASONS = """# Reasons: why something was done, or not

Every cycle gives one reason: in the live view, the history, the report, the conditions, the events and the metrics. The
codes are stable.

## It acted

{acted}
## It did not act

{held}
## Advice

Beside what a cycle did, in `status.load.memory` and `streamjob explain`; nothing is changed by it.

{advice}
## On a cluster

Reasons of conditions and events that have to do with Kubernetes, the driver's pod, or Prometheus.

{kube}
## Of the agent

`status.reason` of a PartitionMap, and label `reason` of `streamjob_agent_actuation`.

{states}
`status.refused` of a PartitionMap begins with one of these, a sentence follows.

{refusals}"""
EVENTS = """# Events

`kubectl events --for sj/NAME` shows them. The same reason and decision is one event that is counted, not many.

## Decisions

One event for each decision that changes something, named by its reason; one for each reason not to act, when it is
another one than before. Their sentences have the figures.

{decisions}
## Conditions

One event when a condition comes to have this status, or another reason for it; the event's reason is the condition's.

{conditions}
## What you asked for

One event when it is followed.

{asked}
## Pods

On the executor's pod alone: `kubectl events --for pod/NAME` shows them.

{pods}"""
ANNOTATIONS = """# Annotations, labels, finalizer, field managers

## Annotations on a StreamJob, by which you steer it

{annotations}
## Labels

{labels}
## Others

{others}"""


def conditions_page() -> str:
    """Phases and conditions."""
    phases = table(("phase", "what it means"), member_docs(names.Phase).items())
    conditions = table(("condition", "what it means"), member_docs(names.Condition).items())
    return CONDITIONS.format(phases=phases, conditions=conditions)


def reasons_page() -> str:
    """Every reason."""
    docs = member_docs(Reason)
    acting = {reason.value: docs[reason.value] for reason in ACTING}
    holding = {reason: text for reason, text in docs.items() if reason not in acting}
    states, refusals = agent_codes.checked()
    return REASONS.format(
        states=table(("code", "what it means"), states.items()),
        refusals=table(("code", "what it means"), refusals.items()),
        acted=_reasons(acting),
        held=_reasons(holding),
        advice=_reasons(member_docs(Advice)),
        kube=_reasons(member_docs(names.KubeReason)),
    )


def events_page() -> str:
    """Every event."""
    decisions = [
        (
            reason.value,
            "Warning" if reason in WARNINGS else "Normal",
            "a decision" if reason in ACTING else "why nothing was done",
        )
        for reason in Reason
    ]
    told = [
        (kind.value, status, "Normal" if kind is names.Condition.READY else "Warning") for kind, status in TOLD.items()
    ]
    ready = (names.Condition.READY.value, "True", "Normal")
    docs = member_docs(names.KubeReason)
    pods = (names.KubeReason.MARKED_FOR_REMOVAL, names.KubeReason.UNMARKED, names.KubeReason.NODE_SILENT)
    return EVENTS.format(
        decisions=table(("reason", "type", "tells"), decisions),
        conditions=table(("condition", "status", "type"), [ready, *told]),
        asked=table(("reason", "what it means"), [(one.value, docs[one.value]) for one in FOLLOWED]),
        pods=table(("reason", "what it means"), [(one.value, docs[one.value]) for one in pods]),
    )


def annotations_page() -> str:
    """Every annotation and label."""
    marks = [
        (code(names.POD_DELETION_COST), "annotation on pods", constant_doc(names, "DRAINING_DELETION_COST")),
        (code(names.APPLICATION_HASH), "annotation on the driver's pod", constant_doc(names, "APPLICATION_HASH")),
        (code(names.FINALIZER), "finalizer", constant_doc(names, "FINALIZER")),
        (code(names.FIELD_MANAGER), "field manager", constant_doc(names, "FIELD_MANAGER")),
        (code(names.AGENT_FIELD_MANAGER), "field manager", constant_doc(names, "AGENT_FIELD_MANAGER")),
    ]
    return ANNOTATIONS.format(
        annotations=table(("annotation", "what it does"), _coded(member_docs(names.Annotation))),
        labels=table(("label", "what it says"), _coded(member_docs(names.Label))),
        others=table(("name", "kind", "what it is"), marks),
    )


def _reasons(docs: dict[str, str]) -> str:
    rows = [(reason, *_halves(text)) for reason, text in docs.items()]
    return table(("code", "what it means", "what to do"), rows)


def _halves(text: str) -> tuple[str, str]:
    meaning, _, to_do = text.partition(TO_DO)
    return meaning, to_do or "nothing"


def _coded(docs: dict[str, str]) -> list[tuple[str, str]]:
    return [(code(name), text) for name, text in docs.items()]
