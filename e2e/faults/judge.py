"""What came of a fault: did the job get where it should, was anything done twice, was anything lost."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from typing import Any

from e2e.faults.stage import MAX, MIN, Stage, until
from streamjob_agent.packed import unpack_owners

APPLIED_S = 15.0
"""A balanced job may be given one more plan while it is judged: time for the agent to apply it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One line of the table; `doubled` and `lost` are sentences, empty when nothing was."""

    name: str
    converged_s: float | None
    generations: int
    removed: int
    doubled: tuple[str, ...]
    lost: tuple[str, ...]
    note: str

    @property
    def good(self) -> bool:
        """Converged, nothing doubled, nothing lost."""
        return self.converged_s is not None and not self.doubled and not self.lost


def judge(name: str, stage: Stage, converged_s: float | None, note: str) -> Outcome:
    """Look at what the driver was asked for, and at where its key groups are."""
    with contextlib.suppress(TimeoutError):  # told below
        until("not applied", lambda: not _behind(stage.agent()), APPLIED_S)
    events, found = list(stage.events()), stage.agent()
    removals = Counter(f"{one['executor']} of {one['application']}" for one in events if one["event"] == "decommission")
    return Outcome(
        name=name,
        converged_s=converged_s,
        generations=int((found.get("spec") or {}).get("generation") or 0),
        removed=sum(removals.values()),
        doubled=tuple(_doubled(removals, events, found)),
        lost=tuple(_lost(events, found)),
        note=note,
    )


def _doubled(removals: Counter[str], events: list[dict[str, Any]], found: dict[str, Any]) -> list[str]:
    told = [f"executor {name} was removed {times} times" for name, times in removals.items() if times > 1]
    asked = [one["total"] for one in events if one["event"] == "request"]
    told += [f"{max(asked)} executors were asked for, {MAX} are allowed"] if asked and max(asked) > MAX else []
    refused = str((found.get("status") or {}).get("refused") or "")
    return told + ([refused] if "given twice" in refused else [])


def _lost(events: list[dict[str, Any]], found: dict[str, Any]) -> list[str]:
    told = [
        f"executor {one['executor']} was removed with {one['held']} key groups"
        for one in events
        if one["event"] == "decommission" and one["held"]
    ]
    status, spec = found.get("status") or {}, found.get("spec") or {}
    alive = {one["id"] for one in status.get("executors", ()) if one["state"] in ("ready", "draining")}
    told += [f"{len(alive)} executors are left, {MIN} are the least"] if len(alive) < MIN else []
    owners = [
        owner for query in status.get("queries", ()) for row in query["owners"].values() for owner in unpack_owners(row)
    ]
    homeless = sum(owner not in alive for owner in owners)
    told += [f"{homeless} of {len(owners)} key groups have no live executor"] if homeless or not owners else []
    applied, newest = status.get("generationApplied"), spec.get("generation")
    return told + ([f"assignment {newest} is not applied, {applied} is"] if _behind(found) else [])


def _behind(found: dict[str, Any]) -> bool:
    """Whether the agent has not applied the newest assignment."""
    newest = (found.get("spec") or {}).get("generation")
    return bool(newest) and (found.get("status") or {}).get("generationApplied") != newest
