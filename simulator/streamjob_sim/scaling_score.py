"""What a scaling rule was worth in a run: what it cost, who waited, and how restless it was."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from streamjob_planners.model import FloatArray
from streamjob_sim.score import Score, Turn

FLAP_S = 900.0
"""A change that is taken back within this time was made for nothing."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ScalingScore:
    """Figures of one run.

    Attributes:
        executor_h: hours of executors, from being ready to leaving.
        late_ratio: share of batches whose results came later than the objective.
        late_rows_ratio: share of rows in such batches; one batch of a backlog holds the rows of many others.
        latency_p50_s, latency_p99_s: of batches, from the arrival of a batch's oldest row to its end.
        lag_p50_rows, lag_p99_rows: rows waiting at the end of a batch.
        actions: changes of the executors wanted; `flaps` those that were taken back within FLAP_S.
        moves, moved_bytes: key groups and state that changed executors.
        broken: things that no controller may ask for.
    """

    executor_h: float
    late_ratio: float
    late_rows_ratio: float
    latency_p50_s: float
    latency_p99_s: float
    lag_p50_rows: float
    lag_p99_rows: float
    actions: int
    flaps: int
    moves: int
    moved_bytes: float
    broken: int


def scaling_score(score: Score, objective_s: float) -> ScalingScore:
    """The figures of a run with at least one batch; `objective_s` is how late results may be, seconds."""
    latency_s, steps = latencies_s(score), timed_changes(score.turns)
    waiting = np.array([batch.waiting for batch in score.batches])
    rows, late = np.array([batch.taken for batch in score.batches]), latency_s > objective_s
    return ScalingScore(
        executor_h=score.executor_s / 3600.0,
        late_ratio=float(late.mean()),
        late_rows_ratio=float(rows[late].sum() / max(rows.sum(), 1.0)),
        latency_p50_s=float(np.percentile(latency_s, 50)),
        latency_p99_s=float(np.percentile(latency_s, 99)),
        lag_p50_rows=float(np.percentile(waiting, 50)),
        lag_p99_rows=float(np.percentile(waiting, 99)),
        actions=len(steps),
        flaps=flaps(steps),
        moves=score.moves,
        moved_bytes=score.moved_bytes,
        broken=len(score.violations),
    )


def latencies_s(score: Score) -> FloatArray:
    """How late the results of each batch were for its oldest row, seconds, (n_batches,)."""
    taken = np.cumsum([0.0, *(batch.taken for batch in score.batches)])[:-1]
    # The first second in which more had arrived than was taken before; a hundredth of a row is rounding.
    came_s = np.searchsorted(score.arrived, taken + 0.01, side="left") - 1
    ends_s = np.array([batch.end_s for batch in score.batches])
    return np.asarray(ends_s - np.maximum(came_s, 0), dtype=np.float64)


def timed_changes(turns: tuple[Turn, ...]) -> list[tuple[float, int]]:
    """When the executors wanted changed, and by how many."""
    wanted = [(turn.at_s, turn.wanted) for turn in turns if turn.wanted is not None]
    pairs = ((at_s, after - before) for (_, before), (at_s, after) in itertools.pairwise(wanted))
    return [(at_s, change) for at_s, change in pairs if change]


def flaps(steps: list[tuple[float, int]]) -> int:
    """Changes against the one before, within FLAP_S of it."""
    return sum(
        one * other < 0 and later_s - at_s <= FLAP_S for (at_s, one), (later_s, other) in itertools.pairwise(steps)
    )
