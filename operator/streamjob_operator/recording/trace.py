"""The trace: what arrived at a job over time, what it did, and what its batches are made of."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from streamjob_operator.spec.base import Part

MOST_POINTS = 100_000
LONGEST_S = 604_800.0
"""A week: what the simulator runs at most."""

Figure = Annotated[float, Field(ge=0, le=1e15)]
Share = Annotated[float, Field(ge=0, le=1)]


class Stage(Part):
    """One stage of the batches."""

    level: int = Field(ge=0, le=10_000)
    """Stages of one level run side by side, one with a higher level begins later. Required, 0 or more."""

    tasks: int | None = Field(default=None, ge=1, le=100_000)
    """Key groups, each a task of every batch. Default: the stage has none, and its work goes to any free slot."""

    fixed_seconds: float = Field(default=0.0, ge=0, le=1e6)
    """Seconds of all its tasks in a batch that rows do not change. Default 0."""

    row_seconds: float = Field(ge=0, le=1e6)
    """Seconds of all its tasks together for each row that the batch reads from the sources. Required."""

    shares: tuple[Share, ...] | None = Field(default=None, min_length=1, max_length=100_000)
    """Part of these seconds that each key group takes, scaled to a sum of 1. Default: all take the same."""

    @model_validator(mode="after")
    def _fit(self) -> Stage:
        if self.shares is not None and len(self.shares) != self.tasks:
            raise ValueError(f"shares: {len(self.shares)} given for {self.tasks or 'no'} tasks; one for each is needed")
        if self.shares is not None and not sum(self.shares) > 0:
            raise ValueError("shares: one of them must be above 0")
        return self


class Batches(Part):
    """What a batch is made of."""

    trigger_seconds: float | None = Field(default=None, gt=0, le=3600)
    """Trigger interval. Seconds above 0, at most 3600; default: batches follow each other without a pause."""

    fixed_seconds: float = Field(default=0.0, ge=0, le=600)
    """Seconds of each batch that no executor changes: planning and commits. Default 0, at most 600."""

    slots: int = Field(ge=1, le=256)
    """Task slots of each executor. Required, 1 to 256."""

    stages: tuple[Stage, ...] = Field(min_length=1, max_length=1000)
    """Its stages. Required, at least one with tasks."""

    @model_validator(mode="after")
    def _some_tasks(self) -> Batches:
        if all(stage.tasks is None for stage in self.stages):
            raise ValueError("stages: none has tasks; at least one stage with key groups is needed")
        return self


class Trace(Part):
    """A job over time, in steps of one length. Columns have one value for each step, null where nobody knows it."""

    kind: Literal["trace"]
    """`trace`. Required."""

    version: Literal[1]
    """1. Required."""

    job: str = Field(min_length=1, max_length=253)
    """Name of the job, for people. Required."""

    start: float = Field(ge=0, le=1e11)
    """When the first step begins. Seconds since 1970, required."""

    step_seconds: float = Field(ge=1, le=86_400)
    """Length of a step. Seconds, 1 to 86400, required."""

    rate: tuple[Figure | None, ...] = Field(min_length=2, max_length=MOST_POINTS)
    """Rows per second that reached the sources. Required, 2 to 100000 values, the first not null."""

    lag: tuple[Figure | None, ...] | None = Field(default=None, max_length=MOST_POINTS)
    """Rows that waited at the end of the step. Default: no source tells."""

    executors: tuple[Annotated[int, Field(ge=0, le=10_000)] | None, ...] | None = Field(
        default=None, max_length=MOST_POINTS
    )
    """Executors that were there. Default: nobody knows."""

    batch_seconds: tuple[Figure | None, ...] | None = Field(default=None, max_length=MOST_POINTS)
    """Mean length of the batches that ended in the step. Seconds; default: nobody knows."""

    batches: Batches
    """What a batch is made of. Required."""

    @model_validator(mode="after")
    def _one_length(self) -> Trace:
        for name in ("lag", "executors", "batch_seconds"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self.rate):
                alias = type(self).model_fields[name].alias
                raise ValueError(f"{alias}: {len(column)} values given, rate has {len(self.rate)}; as many are needed")
        if self.rate[0] is None:
            raise ValueError("rate: the first value is null; a trace begins with a rate that is known")
        if self.duration_s > LONGEST_S:
            raise ValueError(f"rate: {len(self.rate)} steps of {self.step_seconds:g} s given; a week is the most")
        return self

    @property
    def duration_s(self) -> float:
        """Of the whole trace."""
        return self.step_seconds * len(self.rate)

    @property
    def unknown(self) -> int:
        """Steps of which no rate is known: they are replayed with the rate before."""
        return sum(one is None for one in self.rate)

    def known_rates(self) -> tuple[float, ...]:
        """The rate of every step, that of the step before where nobody knows it."""
        rates, last = [], 0.0
        for one in self.rate:
            last = last if one is None else one
            rates.append(last)
        return tuple(rates)
