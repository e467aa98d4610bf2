"""What every scaling rule is given and gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from streamjob_operator.codec import decode, encode
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.estimate import Estimate
from streamjob_operator.values import Memory, Snapshot
from streamjob_planners.advice.more_groups import MoreGroups
from streamjob_planners.model import Plan

T = TypeVar("T")

State = Mapping[str, Any]
"""What a rule remembers from one decision to the next: a small JSON object, see :func:`recalled` and :func:`kept`."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Executors: `ready` unmarked ones that exist, `wanted` unmarked ones, `marked` ones being drained."""

    ready: int
    wanted: int
    marked: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a scaling rule may look at: measurements, and the loads once the plan has been carried out.

    `snapshot` holds what was measured since the load changed; `now_s` is seconds since the epoch. `settled` says that
    the whole window lies after the last change of placement, so that its batch times are those of today's placement.
    `memory` is the cycle's, after `recall`; a rule's own state comes beside it.
    """

    job: StreamJob
    snapshot: Snapshot
    estimate: Estimate
    plan: Plan
    fleet: Fleet
    now_s: float
    settled: bool = True
    memory: Memory = dataclasses.field(default_factory=Memory)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How many executors a rule wishes for, its own stabilisation applied, and why: a sentence without its full stop.

    `needed` is what this moment alone asks for; where that is not `executors`, `held` must say what is waited for. The
    job's bounds, windows and modes, and executors that do not come, are applied by others. `enough`: False where no
    number within the bounds is. `more_groups`: what might do where no number of executors does.
    """

    executors: int
    needed: int
    why: str
    held: str = ""
    enough: bool = True
    more_groups: MoreGroups | None = None


class ScalingRule(Protocol):
    """Says how many executors there should be. Pure: what it remembers is handed in and given back."""

    @property
    def name(self) -> str:
        """Its name; a state is handed back only to a rule of the name that gave it."""

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """The wish and the state for the next time; `state` is None at the first time, and when it was lost.

        The state must stay small (a few KiB of JSON) however long the job runs.
        """


def recalled(kind: type[T], state: State | None) -> T:
    """A rule's state as its own dataclass; a new one where there is none, or none that this version can read."""
    try:
        return kind() if state is None else decode(kind, state)
    except ValueError:
        return kind()


def kept(value: object) -> State:
    """Inverse of :func:`recalled`."""
    state: State = encode(value)
    return state


def clamp(executors: int, job: StreamJob) -> int:
    """Within the job's bounds."""
    return min(max(executors, job.spec.executors.min), job.spec.executors.max)
