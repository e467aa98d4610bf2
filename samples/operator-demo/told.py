"""What the API server told during the demo, and the claims that are checked against it and against Spark's own log."""

from __future__ import annotations

import dataclasses
import pathlib
import threading
import time
from typing import Any

from e2e.cluster.kubectl import Kubectl, KubectlFailed
from event_log import Events
from proof import Proof

LOOK_S = 0.7
REFERENCE = pathlib.Path(__file__).parents[2] / "docs" / "reference"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The StreamJob's status and its PartitionMap's spec at one moment."""

    at_s: float
    status: dict[str, Any]
    map_spec: dict[str, Any]

    @property
    def ready(self) -> int:
        """Executors that are there."""
        return int((self.status.get("executors") or {}).get("ready") or 0)

    @property
    def marked(self) -> tuple[str, ...]:
        """Executors that are being drained."""
        return tuple(one["id"] for one in (self.status.get("executors") or {}).get("markedForRemoval") or ())

    def holds(self, condition: str) -> bool:
        """Whether a condition is True."""
        return any(one["type"] == condition and one["status"] == "True" for one in self.status.get("conditions", ()))

    def settled(self, executors: int) -> bool:
        """Balanced on that many executors, nothing under way."""
        target = (self.status.get("executors") or {}).get("target")
        return self.holds("Balanced") and self.ready == executors == target and not self.marked


class Chronicle(threading.Thread):
    """Looks at the API server until it is told to end, and keeps what it saw."""

    def __init__(self, kubectl: Kubectl, name: str) -> None:
        super().__init__(name="chronicle", daemon=True)
        self._kubectl = kubectl
        self._name = name
        self._over = threading.Event()
        self.seen: list[Seen] = []

    @property
    def newest(self) -> Seen:
        """The newest look."""
        return self.seen[-1] if self.seen else Seen(at_s=time.time(), status={}, map_spec={})

    @property
    def removed(self) -> set[str]:
        """Executors that the operator has asked to leave."""
        return {name for one in self.seen for name in one.map_spec.get("remove") or ()}

    def run(self) -> None:
        """Look again and again."""
        while not self._over.wait(LOOK_S):
            try:
                job, found = (self._kubectl.get(kind, self._name) for kind in ("streamjob", "partitionmap"))
            except KubectlFailed:
                continue  # the next look tells; a demo without any fails
            self.seen.append(Seen(at_s=time.time(), status=job.get("status") or {}, map_spec=found.get("spec") or {}))

    def end(self) -> None:
        """Look no more."""
        self._over.set()
        self.join(10.0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence with its figures, and whether it holds."""

    ok: bool
    text: str


def claims(
    seen: list[Seen], removed: set[str], told: set[str], events: Events, proof: Proof, exit_code: int | None
) -> list[Claim]:
    """All of them, in the order in which they are printed. `told` are the reasons of Kubernetes events."""
    return [
        _exact(proof),
        _no_failed_task(events),
        _scaled(seen),
        _drained(seen, removed, events),
        _ended_balanced(seen),
        _documented(seen, told),
        Claim(ok=exit_code == 0, text=f"The operator ended in order when told to (exit code {exit_code})"),
    ]


def _exact(proof: Proof) -> Claim:
    text = (
        f"Results equal the source: {proof.scans:,} scans of {proof.depots} depots in {proof.batches} batches, "
        f"{proof.repeats:,} repeated scans dropped"
    )
    first = f"; {len(proof.mistakes)} mistakes, the first: {proof.mistakes[0]}" if proof.mistakes else ""
    return Claim(ok=proof.scans > 0 and not proof.mistakes, text=text + first)


def _no_failed_task(events: Events) -> Claim:
    failed = f", the first: {events.failed_tasks[0]}" if events.failed_tasks else ""
    text = f"{len(events.failed_tasks)} of {events.tasks:,} tasks failed{failed}"
    return Claim(ok=events.tasks > 0 and not events.failed_tasks, text=text)


def course(seen: list[Seen]) -> list[int]:
    """Executors that were ready, over time."""
    counts = [one.ready for one in seen if one.ready]
    return [count for at, count in enumerate(counts) if at == 0 or count != counts[at - 1]]


def _scaled(seen: list[Seen]) -> Claim:
    counts = course(seen)
    low = counts.index(min(counts)) if counts else 0
    grew, then = max(counts[low:], default=0), counts[-1] if counts else 0
    text = f"Executors over time: {' → '.join(map(str, counts))}"
    return Claim(ok=bool(counts) and min(counts) < grew and then < grew, text=text)


def _drained(seen: list[Seen], removed: set[str], events: Events) -> Claim:
    marked = {name for one in seen for name in one.marked}
    gone = set(events.removed)
    text = f"{len(gone & removed)} executors were marked, drained and removed: {', '.join(sorted(gone & removed))}"
    if gone - removed:
        return Claim(ok=False, text=f"{text}; but {', '.join(sorted(gone - removed))} were lost without a drain")
    return Claim(ok=bool(gone & removed) and removed <= marked, text=text)


def _documented(seen: list[Seen], told: set[str]) -> Claim:
    conditions = [row for one in seen for row in one.status.get("conditions", ())]
    types = {row["type"] for row in conditions} | {one.status["phase"] for one in seen if one.status}
    reasons, known_reasons = {row["reason"] for row in conditions}, _words(REFERENCE / "reasons.md")
    # A condition's event is named by the condition's reason, so that page has it.
    strange = told - _words(REFERENCE / "events.md") - known_reasons
    unknown = sorted((types - _words(REFERENCE / "conditions.md")) | (reasons - known_reasons) | strange)
    text = f"Conditions ({len(types)} with phases), reasons ({len(reasons)}) and events "
    text += f"({len(told)}) are those of docs/reference"
    return Claim(
        ok=bool(conditions) and bool(told) and not unknown, text=text + "".join(f"; not {one}" for one in unknown)
    )


def _words(page: pathlib.Path) -> set[str]:
    """First words of the rows of its tables."""
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return {row.split("|")[1].strip().strip("`") for row in rows}


def _ended_balanced(seen: list[Seen]) -> Claim:
    last = seen[-1] if seen else None
    distance = (last.status.get("load") or {}).get("distance") if last else None
    ok = last is not None and last.holds("Balanced") and last.holds("Ready")
    return Claim(ok=ok, text=f"The job ends Balanced and Ready, load distance {distance}")
