"""metav1 conditions: a status, a reason, a sentence, the generation of the spec they speak of, and since when. Pure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streamjob_operator.kube.api.times import rfc3339
from streamjob_operator.kube.names import Condition

LONGEST_MESSAGE = 32_768  # of metav1.Condition
_REASON = re.compile(r"[^A-Za-z0-9_]")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is found of one condition now; `holds` None is Unknown."""

    type: Condition
    holds: bool | None
    reason: str
    message: str

    @property
    def status(self) -> str:
        """True, False or Unknown."""
        return "Unknown" if self.holds is None else str(self.holds)


def merge(
    before: Sequence[Mapping[str, Any]], findings: Iterable[Finding], generation: int, now_s: float
) -> list[dict[str, Any]]:
    """The conditions with the findings taken in, in the order of `Condition`.

    Those that nothing was found of stay as they are. The time of the last transition changes with the status alone.
    """
    known = {one["type"]: dict(one) for one in before}
    for finding in findings:
        known[finding.type.value] = _condition(finding, known.get(finding.type.value), generation, now_s)
    return [known[one.value] for one in Condition if one.value in known]


def _condition(finding: Finding, before: Mapping[str, Any] | None, generation: int, now_s: float) -> dict[str, Any]:
    same = before is not None and before["status"] == finding.status
    return {
        "type": finding.type.value,
        "status": finding.status,
        "observedGeneration": generation,
        "lastTransitionTime": before["lastTransitionTime"] if before is not None and same else rfc3339(now_s),
        "reason": code(finding.reason),
        "message": finding.message[:LONGEST_MESSAGE],
    }


def code(reason: str) -> str:
    """A reason as the API server takes it: letters, digits and underscores, a letter first, at most 1,024."""
    clean = _REASON.sub("", reason)[:1024]
    return clean if clean[:1].isalpha() else f"Reason{clean}"


def find(conditions: Sequence[Mapping[str, Any]], kind: Condition) -> Mapping[str, Any] | None:
    """The condition of that type."""
    return next((one for one in conditions if one["type"] == kind.value), None)
