"""What each task has alike, told from what goes with its size: the heaviest key group at three times the rows.

    python -m benchmarks.alike                 # made-up batches, 300 series for each line

`before` takes the same part of each task for what rows do not change, as if all of it went with the size.
"""

from __future__ import annotations

import argparse
import dataclasses

import numpy as np

from streamjob_planners.arrays import FloatArray
from streamjob_planners.batch.by_rows import seconds_by_rows

BATCHES, ROWS, TIMES = 24, (500.0, 1500.0), 3.0
WORK_S, ZIPF = 4.0, 0.8
"""Seconds of all key groups in a mean batch, what each has alike left out; and the exponent of their skew."""
NOISE = 0.1
"""Standard deviation of batches as a whole, and of tasks, as a part of their mean."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Key groups of one operator: seconds that each task has alike, and the part of its other ones that rows leave."""

    groups: int
    alike_s: float
    by_size: float

    def tasks_s(self, rows: FloatArray) -> FloatArray:
        """Of batches with so many rows, (n_batches, n_groups), the heaviest group first."""
        parts = np.arange(1, self.groups + 1) ** -ZIPF
        mean_s = WORK_S * parts / parts.sum()
        return self.alike_s + mean_s * (self.by_size + (1.0 - self.by_size) * rows[:, None] / np.mean(ROWS))


JOBS = tuple(
    Job(groups=groups, alike_s=alike_s, by_size=by_size)
    for alike_s in (0.0, 0.05, 0.15)
    for by_size in (0.0, 0.3)
    for groups in (8, 16, 96)
)


def off(job: Job, seed: int) -> tuple[float, float, float] | None:
    """Seconds alike as they were told, and errors of the heaviest task's forecast: before and now, parts of the truth.

    None where rows explain nothing.
    """
    rng = np.random.default_rng(seed)
    rows = rng.uniform(*ROWS, BATCHES)
    true_s = job.tasks_s(rows)
    noise = (1.0 + NOISE * rng.standard_normal((BATCHES, 1))) * (1.0 + NOISE * rng.standard_normal(true_s.shape))
    ones = np.ones(BATCHES, dtype=np.int64)
    known = seconds_by_rows(true_s * noise, rows, ones, np.zeros(job.groups, dtype=np.int64))
    if 0 not in known.lines:
        return None
    then = TIMES * float(np.mean(ROWS))
    heaviest_s, part = float(job.tasks_s(np.array([then]))[0, 0]), known.lines[0].fixed_ratio
    before_s = float(known.mean_s[0]) * (part + (1.0 - part) * then / float(known.rows[0]))
    return known.lines[0].task_s, before_s / heaviest_s - 1.0, float(known.at(then)[0]) / heaviest_s - 1.0


def main() -> None:
    """Print a line for each job: medians over the series."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=300)
    series = parser.parse_args().series
    print(
        "| seconds alike | mean other s | goes with size | key groups | told apart in % | told s | before % | now % |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for job in JOBS:
        found = np.array([one for one in (off(job, seed) for seed in range(series)) if one is not None])
        told_s, before, now = np.median(found, axis=0).tolist()
        cells = [f"{job.alike_s:g}", f"{WORK_S / job.groups:.2g}", f"{job.by_size:g}", f"{job.groups}"]
        cells += [f"{100 * np.mean(found[:, 0] > 0):.0f}", f"{told_s:.3f}", f"{100 * before:+.0f}", f"{100 * now:+.0f}"]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
