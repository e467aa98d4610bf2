"""What is written down of a change, and what the files say about how far it has come. Pure.

No step is recorded as done by itself: the files that it moves are its record. So there is nothing that a crash could
leave untrue.
"""

from __future__ import annotations

import dataclasses
import enum
import json

BARRIER_HEAD = "v99999"
"""A version of Spark's log of batches that no Spark has: reading it fails, and so does the query's start."""


class Direction(enum.StrEnum):
    """Which state comes into the place of the other."""

    FORWARD = "forward"
    BACK = "back"


class Stage(enum.Enum):
    """How far a change has come."""

    NONE = "none"
    DRAFT = "draft"
    """A copy is there, and the query's own checkpoint is as it was."""

    HALFWAY = "halfway"
    """The barrier is there: state is being put in its place, or was when everything stopped."""

    WAITING = "waiting"
    """The new state is in its place, and no batch has begun with it: going back is exact."""

    BEGUN = "begun"
    """A batch has begun with the new state, and none has been finished."""

    DONE = "done"
    """A batch has been finished with the new state: the old one is of no use any more."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """One change of the number of key groups."""

    batch: int
    """The newest finished batch when it began."""

    key_groups_before: int
    key_groups: int

    def text(self) -> str:
        """As JSON."""
        return json.dumps(dataclasses.asdict(self), indent=1)


def read_journal(text: str) -> Journal | None:
    """None for what was not written whole, or not by us."""
    try:
        told = json.loads(text)
        return Journal(**{field.name: int(told[field.name]) for field in dataclasses.fields(Journal)})
    except (ValueError, TypeError, KeyError):
        return None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is found."""

    room: bool
    old_state: bool
    barrier: Direction | None
    batch: int | None
    """Newest planned batch; the barrier is none."""

    committed: int | None


def stage(journal: Journal | None, seen: Seen) -> Stage:
    """How far the change has come, by what is found."""
    if not seen.room:
        return Stage.NONE
    if seen.barrier is not None:
        return Stage.HALFWAY
    if journal is None or not seen.old_state:
        return Stage.DRAFT
    changed = journal.batch + 1
    if (seen.committed or 0) > changed:
        return Stage.DONE
    return Stage.BEGUN if (seen.batch or 0) > changed else Stage.WAITING


def barrier_text(direction: Direction) -> str:
    """What the barrier says: to Spark that it cannot read it, to people why, to us which way to go on."""
    told = {"direction": direction, "by": "streamjob repartition, which has not finished: run it again"}
    return f"{BARRIER_HEAD}\n{json.dumps(told)}\n"


def read_barrier(text: str) -> Direction | None:
    """None for what is no barrier of ours."""
    head, _, rest = text.partition("\n")
    if head != BARRIER_HEAD:
        return None
    try:
        return Direction(json.loads(rest)["direction"])
    except (ValueError, TypeError, KeyError):
        return None
