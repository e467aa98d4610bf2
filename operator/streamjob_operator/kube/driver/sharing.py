"""Two StreamJobs with one checkpoint, as after a copy under another name: one driver at a time. Pure.

A place that only its own pods reach, such as a path on a volume, is written alike in jobs that share nothing. So only
addresses are compared, and only within a namespace: whoever writes StreamJobs in another must not keep these waiting.
Nor do jobs of different programs wait: their checkpoints may be folders below the one that both name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streamjob_operator.kube.driver.values import Action, Decision, DriverMemory, JobFacts
from streamjob_operator.kube.names import KubeReason, Phase

LOOK_S = 15.0
Document = Mapping[str, Any]
_PROGRAM = ("mainFile", "mainClass", "args")
_OF_THE_POD = ("file:", "local:")


def has_address(job: JobFacts) -> bool:
    """Whether its checkpoint is at a place that every pod reaches by that name."""
    return _address(job.application.checkpoint) is not None


def holder(job: JobFacts, others: Iterable[Document], has_pod: Callable[[str], bool] = lambda _: False) -> str | None:
    """Name of another StreamJob of the namespace whose driver works on the job's checkpoint, or comes first; None where
    there is none. `has_pod` says whether the one of that name has a pod: its status tells of it a turn later."""
    ours = _program(job.application.model_dump(mode="json", by_alias=True))
    found = (one for one in others if one["metadata"]["name"] != job.name and _program(_application(one)) == ours)
    names = ((one["metadata"]["name"], one) for one in found)
    return next((name for name, one in names if _goes_first(one, job.owner) or has_pod(name)), None)


def waiting(other: str, memory: DriverMemory) -> Decision:
    """What is done about it: nothing, until the other one is gone."""
    sentence = (
        f"application.checkpoint is that of StreamJob {other}, too, and two drivers on one checkpoint harm each other: "
        f"give this one its own, or suspend or delete {other}."
    )
    return Decision(
        action=Action.NOTHING,
        phase=Phase.PENDING,
        reason=KubeReason.CHECKPOINT_IN_USE,
        sentence=sentence,
        memory=memory,
        next_look_s=LOOK_S,
        stalled=True,
    )


def _address(checkpoint: str | None) -> str | None:
    known = checkpoint is not None and "://" in checkpoint and not checkpoint.startswith(_OF_THE_POD)
    return checkpoint.rstrip("/") if known and checkpoint is not None else None


def _application(other: Document) -> Document:
    return (other.get("spec") or {}).get("application") or {}


def _program(application: Document) -> list[Any]:
    """What is run, and where its checkpoint is: the same of two jobs that are one."""
    return [_address(application.get("checkpoint")), *(application.get(name) or None for name in _PROGRAM)]


def _goes_first(other: Document, ours: Document) -> bool:
    """It has a pod, changes its key groups between two, or is to have one and was made before; the uid tells those
    apart that were made in one second."""
    status = other.get("status") or {}
    if (status.get("driver") or {}).get("pod") or (status.get("keyGroups") or {}).get("step"):
        return True
    wanted = not (other.get("spec") or {}).get("suspend") and "deletionTimestamp" not in other["metadata"]
    return wanted and _age(other) < _age(ours)


def _age(document: Document) -> tuple[str, str]:
    return str(document["metadata"].get("creationTimestamp", "")), str(document["metadata"]["uid"])
