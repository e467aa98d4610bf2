"""What is known of one job's batches, and how far predictions of them have been off. Survives in a memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from streamjob_planners.batch.evidence import TaskEvidence
from streamjob_planners.batch.learned import Learned, MoveEvidence, learned
from streamjob_planners.capacity.pace import Pace

TRUSTED_ERROR = 0.25
"""Mean difference between predicted and measured batches, as a part of the measured ones, up to which plans are made on
predictions."""
FEWEST_WINDOWS = 2.5
"""Weight of windows from which an error counts: one odd window is no verdict."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """Everything learned. `at_s` is the newest window taken in.

    Attributes:
        fixed_s: part of a batch that no task explains: planning, commits, launching tasks.
        error_ratio: difference between predicted and measured batch, without its sign, as a part of the measured one.
        predicted_s, measured_s: the newest window's mean batch, predicted with what was known before it.
        moves: what moves have cost.
        tasks, tasks_at_s: what key groups' tasks take, and the end of the newest window taken in; None where nothing is
            known, or of more key groups than a memory holds.
        alike_since_s: since when key groups share the work as they do, no executor's speed being the reason; None where
            no change was seen.
        paces: speeds of executors that are slower or faster than most, by id.
    """

    at_s: float | None = None
    fixed_s: Learned | None = None
    error_ratio: Learned | None = None
    predicted_s: float | None = None
    measured_s: float | None = None
    moves: MoveEvidence = dataclasses.field(default_factory=MoveEvidence.prior)
    tasks: TaskEvidence | None = None
    tasks_at_s: float | None = None
    alike_since_s: float | None = None
    paces: Mapping[str, Pace] = dataclasses.field(default_factory=dict)

    @property
    def trusted(self) -> bool:
        """Whether plans may be made on predicted batches; so until proven otherwise."""
        error = self.error_ratio
        return error is None or error.weight < FEWEST_WINDOWS or error.mean <= TRUSTED_ERROR

    @property
    def off(self) -> float:
        """How far predictions have been off in the mean, as a part of a batch; 0 until one was held against a batch."""
        return 0.0 if self.error_ratio is None else self.error_ratio.mean

    def with_window(self, at_s: float, tasks_s: float, measured_s: float) -> Knowledge:
        """The same after one more window of batches.

        `tasks_s`: what the model says that tasks took of a mean batch, the fixed part left out; `measured_s`: the mean
        batch, above 0.
        """
        fixed = learned(self.fixed_s, max(0.0, measured_s - tasks_s))
        if self.fixed_s is None:
            return dataclasses.replace(self, at_s=at_s, fixed_s=fixed, error_ratio=_beyond(tasks_s, measured_s))
        predicted_s = self.fixed_s.mean + tasks_s
        error = learned(self.error_ratio, abs(predicted_s - measured_s) / measured_s)
        return dataclasses.replace(
            self, at_s=at_s, fixed_s=fixed, error_ratio=error, predicted_s=predicted_s, measured_s=measured_s
        )


def _beyond(tasks_s: float, measured_s: float) -> Learned | None:
    """The first window predicts nothing, but where tasks alone take longer than the batch did, the model is off."""
    return Learned(mean=tasks_s / measured_s - 1.0) if tasks_s > measured_s else None
