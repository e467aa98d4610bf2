"""StreamJob.status.scaling: what the newest scaling decision rested on, in numbers that can be checked by hand."""

from __future__ import annotations

from pydantic import Field

from streamjob_operator.spec.base import Part

MOST_STAGES, MOST_SHARES = 20, 200


class StageWork(Part):
    """The tasks of one level of a batch: its stages run side by side."""

    level: int
    """Its place in the batch, from 0."""

    tasks: int | None = None
    """Key groups; absent for stages without any, whose work goes to any free slot."""

    fixed_seconds: float
    """Seconds of all its tasks in a batch that rows do not change."""

    task_seconds: float | None = None
    """Those of them that each task has alike; the others go with the shares. Absent where all of them do."""

    row_seconds: float
    """Seconds of all its tasks together for each row of the batch."""

    largest: float | None = None
    """Part of these seconds that the heaviest key group takes, 0 to 1."""

    shares: tuple[float, ...] | None = Field(default=None, max_length=MOST_SHARES)
    """Part of each key group, 0 to 1; absent where there are more than 200."""


class ScalingStatus(Part):
    """The arithmetic of the newest scaling decision; `streamjob explain` and `streamjob what-if` read it."""

    at: float
    """End of the window that was measured. Seconds since 1970."""

    rate: float
    """Rows per second that the sources bring."""

    rows: float
    """Rows of a mean batch."""

    batch_seconds: float
    """Its length."""

    fixed_seconds: float
    """Part of a batch that no executor changes: planning and commits."""

    trigger_seconds: float | None = None
    """Trigger interval; absent without one."""

    lag: float | None = None
    """Rows that wait at the sources beyond what arrives during a batch; absent where nobody tells."""

    executors: int
    """Executors that are not marked for removal."""

    slots: int
    """Task slots of each."""

    stages: tuple[StageWork, ...] = Field(default=(), max_length=MOST_STAGES)
    """What a batch is made of; absent where it has more than 20 stages."""

    needed: int | None = None
    """Executors that the scaling rule asks for at this moment."""

    target: int | None = None
    """Executors that are wanted, after bounds, stabilisation and windows."""

    reason: str | None = None
    """Why: stable code; see docs/reference/reasons.md."""

    message: str | None = None
    """Why: a sentence."""
