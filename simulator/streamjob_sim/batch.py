"""A finished batch of a simulated job."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from streamjob_operator.measure.batches import Figure
from streamjob_planners.model import FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A finished batch, or `times` batches in a row that were alike, of which all figures are those of one.

    `waiting` are records that had arrived and were not taken at its end, `left` those when it began; arrays are
    (n_groups,). `loading_s` is the part of `task_s` that moves and cold executors cost. `started_s` is the first one's
    start, `end_s` the last one's end.
    """

    started_s: float
    end_s: float
    length_s: float
    taken: float
    waiting: float
    left: float
    moves: int
    moved_bytes: float
    executors: int
    task_s: FloatArray
    cpu_s: FloatArray
    loading_s: FloatArray
    records: FloatArray
    remote_bytes: FloatArray
    stage_s: FloatArray  # (n_operators,), length of each stage
    executor_busy_s: FloatArray  # (n_executors,) as of then
    other_busy_s: float
    fleet: frozenset[str]  # executors that were there at its end
    owner: IntArray  # executor of each group's task
    times: int = 1
    figures: Mapping[Figure, float] = dataclasses.field(default_factory=dict)  # what the agent counts of one of them
