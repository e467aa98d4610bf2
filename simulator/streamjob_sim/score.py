"""What a simulated run was worth: a table of figures and the series behind them."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping

import numpy as np

from streamjob_operator.values import CycleRecord
from streamjob_planners.model import FloatArray
from streamjob_sim.actuate import Violation
from streamjob_sim.batch import Batch
from streamjob_sim.fleet import Executor


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The world at one turn of the controller; `record` is None when it was down, dead or not there.

    `load_distance` is the true one of the last statistics period, percent points; None before the first batch.
    `wanted` is the number of unmarked executors that the controller wants, None until it knows.
    """

    at_s: float
    load_distance: float | None
    executors: int
    marked: int
    wanted: int | None
    record: CycleRecord | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The figures of one run. Seconds, records, bytes and percent points as the names say."""

    planner: str
    seed: int
    mean_batch_s: float
    p95_batch_s: float
    max_batch_s: float
    max_waiting: float
    final_waiting: float
    mean_distance: float
    final_distance: float
    moves: int
    moved_bytes: float
    executor_s: float
    overloaded_s: float
    scale_outs: int
    scale_ins: int
    turns_back: int
    crashes: int
    violations: tuple[Violation, ...]
    reasons: Mapping[str, int]
    batches: tuple[Batch, ...]
    turns: tuple[Turn, ...]
    lives: tuple[Executor, ...]
    arrived: FloatArray  # records arrived until each whole second, (n_seconds + 1,)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All that a run left behind, for :func:`score`."""

    planner: str
    seed: int
    trigger_s: float
    batches: tuple[Batch, ...]
    turns: tuple[Turn, ...]
    lives: tuple[Executor, ...]
    executor_s: float
    crashes: int
    violations: tuple[Violation, ...]
    arrived: FloatArray


def score(run: Run) -> Score:
    """The figures. `overloaded_s` is time in batches that took longer than the trigger interval."""
    times = [batch.times for batch in run.batches]
    lengths_s = np.repeat([batch.length_s for batch in run.batches], times) if times else np.zeros(1)
    waiting = [batch.waiting for batch in run.batches] or [0.0]
    distances = [turn.load_distance for turn in run.turns if turn.load_distance is not None] or [0.0]
    steps = changes(run.turns)
    return Score(
        planner=run.planner,
        seed=run.seed,
        mean_batch_s=float(lengths_s.mean()),
        p95_batch_s=float(np.percentile(lengths_s, 95)),
        max_batch_s=float(lengths_s.max()),
        max_waiting=max(waiting),
        final_waiting=waiting[-1],
        mean_distance=float(np.mean(distances)),
        final_distance=float(np.mean(distances[-max(1, len(distances) // 4) :])),
        moves=sum(batch.moves for batch in run.batches),
        moved_bytes=sum(batch.moved_bytes for batch in run.batches),
        executor_s=run.executor_s,
        overloaded_s=float(lengths_s[lengths_s > run.trigger_s].sum()),
        scale_outs=sum(step > 0 for step in steps),
        scale_ins=sum(step < 0 for step in steps),
        turns_back=sum(one * other < 0 for one, other in itertools.pairwise(steps)),
        crashes=run.crashes,
        violations=run.violations,
        reasons=Counter(turn.record.verdict.reason.value for turn in run.turns if turn.record is not None),
        batches=run.batches,
        turns=run.turns,
        lives=run.lives,
        arrived=run.arrived,
    )


def changes(turns: tuple[Turn, ...]) -> list[int]:
    """By how many executors the controller's wish changed, each time that it did."""
    wanted = [turn.wanted for turn in turns if turn.wanted is not None]
    return [after - before for before, after in itertools.pairwise(wanted) if after != before]
