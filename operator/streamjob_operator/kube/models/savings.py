"""StreamJob.status.savings: executor-hours beside those of a fleet that always has the most."""

from __future__ import annotations

from pydantic import Field

from streamjob_operator.spec.base import Part

MOST_MONTHS = 3


class Month(Part):
    """One calendar month, UTC."""

    month: str = Field(pattern=r"^[0-9]{4}-[0-9]{2}$")
    """Which one, such as "2026-03"."""

    hours: float
    """Hours in which executors were counted."""

    executor_hours: float
    """Hours of all executors that were ready, marked ones included."""

    most: int
    """Most executors at one time in it."""


class SavingsStatus(Part):
    """What scaling has saved; `streamjob savings` adds it up and puts a price to it."""

    counted_at: float
    """When executors were counted last. Seconds since 1970."""

    months: tuple[Month, ...] = Field(default=(), max_length=MOST_MONTHS)
    """The newest months, oldest first, at most 3."""
