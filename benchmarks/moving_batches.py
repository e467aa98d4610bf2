"""Batches in which key groups move: predicted beside measured, on paper.

    python -m benchmarks.moving_batches [--world skewed-keys] [--seed 0]

Each sample world is run with its own policy, cycles by the clock. Every batch's first prediction is held against the
batch, once with what moves have cost in it and once as if loading took nothing. Plans end by their time, so numbers of
moves differ a little from run to run.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from streamjob_operator.series import BatchTimes, joined
from streamjob_operator.steps.singly import batch_times
from streamjob_operator.values import CycleRecord, Memory
from streamjob_planners.batch.learned import MoveEvidence
from streamjob_planners.model import FloatArray
from streamjob_sim.reading import read_world
from streamjob_sim.score import Score
from streamjob_sim.simulate import job_of, simulate
from streamjob_sim.world import START_S

WORLDS = Path(__file__).parent.parent / "samples" / "worlds"
NAMES = ("skewed-keys", "shifting-skew", "talkative", "double-and-halve", "surge", "bad-day")
FREE = MoveEvidence(weight=1.0, x=0.0, y=0.0, xx=1.0, xy=0.0)
"""Moves that cost nothing."""
CLOCKS_S = 1e-6


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Of the batches of one world: how many there were, and errors of those that were predicted, percent."""

    batches: int
    errors_pct: FloatArray

    @property
    def cells(self) -> str:
        """Of a row in Markdown."""
        if not self.errors_pct.size:
            return f"0 of {self.batches} | |"
        median, most = np.percentile(self.errors_pct, (50, 90))
        return f"{self.errors_pct.size} of {self.batches} | {median:.1f} / {most:.1f} |"


def told(records: Iterable[CycleRecord], *, free: bool) -> BatchTimes | None:
    """Every batch as it was predicted first; `free`: as if moves cost nothing."""
    return joined(one for one in _each(records, free=free) if one is not None)


def _each(records: Iterable[CycleRecord], *, free: bool) -> Iterator[BatchTimes | None]:
    before = Memory()
    for record in records:
        batches = dataclasses.replace(before.batches, moves=FREE) if free else before.batches
        if record.snapshot is not None:
            yield batch_times(record.snapshot, dataclasses.replace(before, batches=batches))
        before = before if record.memory is None else record.memory


def errors(score: Score, times: BatchTimes, *, moves: bool) -> Errors:
    """Of the batches in which key groups moved, or of the others."""
    ended_s = np.array([START_S + one.end_s for one in score.batches if (one.moves > 0) is moves])
    near = np.abs(times.ended_at_s[:, None] - ended_s).min(axis=1, initial=np.inf) < CLOCKS_S
    return Errors(batches=ended_s.size, errors_pct=100.0 * times.rows(near).error_ratio)


def row(name: str, seed: int) -> str:
    """Of one world."""
    world = read_world(WORLDS / f"{name}.yaml")
    score = simulate(world, job_of(world), seed=seed, clock=time.process_time)
    records = [one.record for one in score.turns if one.record is not None]
    with_moves, without = told(records, free=False), told(records, free=True)
    if with_moves is None or without is None:
        return f"| {name} | nothing was predicted |"
    still, moving = (errors(score, with_moves, moves=one) for one in (False, True))
    return f"| {name} | {still.cells} {moving.cells} {errors(score, without, moves=True).cells.partition('| ')[2]}"


def main() -> None:
    """Print a row for each world."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=NAMES, action="append", help="default: all of them")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print(
        "| world | batches without moves | error p50 / p90 % | with moves | error p50 / p90 % | if moves cost nothing |"
    )
    print("|---|---|---|---|---|---|")
    for name in asked.world or NAMES:
        print(row(name, asked.seed), flush=True)


if __name__ == "__main__":
    main()
