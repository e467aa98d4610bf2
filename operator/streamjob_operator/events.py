"""What may wake a cycle before its statistics period is over, and how it is told."""

from __future__ import annotations

import dataclasses
import enum


class EventKind(enum.StrEnum):
    """What has happened."""

    SPEC_EDITED = "SpecEdited"
    DRIVER_CHANGED = "DriverChanged"
    ACTUATION_CHANGED = "ActuationChanged"
    ASSIGNMENT_REFUSED = "AssignmentRefused"
    EXECUTOR_READY = "ExecutorReady"
    EXECUTOR_GONE = "ExecutorGone"
    EXECUTOR_EMPTY = "ExecutorEmpty"
    EXECUTOR_HOLDS = "ExecutorHolds"
    EXECUTOR_SLOW = "ExecutorSlow"
    EXECUTOR_WELL = "ExecutorWell"
    BATCH_OUT_OF_RANGE = "BatchOutOfRange"
    ROWS_ROSE = "RowsRose"
    BACKLOG_GONE = "BacklogGone"
    LOAD_CHANGED = "LoadChanged"
    MOVES_MEASURED = "MovesMeasured"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that has happened, with a sentence.

    `batch_ended_at_s`: by the driver's clock, the end of the batch that must be measured before anybody can act on
    this, and `batch_began_at_s` the begin of the one that runs, whose rows must be known; None where what is measured
    already will do.
    """

    kind: EventKind
    sentence: str
    batch_ended_at_s: float | None = None
    batch_began_at_s: float | None = None


def told(events: tuple[Event, ...]) -> str:
    """What woke a cycle, in one line; nothing for a cycle that came by the clock."""
    return " ".join(one.sentence for one in events)
