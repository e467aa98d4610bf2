"""Key groups that talk one to one: which planner brings them together, and at which price of remote traffic.

    python -m benchmarks.together            # a table: docs/decisions/0066-talk-by-time.md has it

The tournament's talkative job (`tournament_jobs.talkative`), with all remote traffic at several prices, parts of the
work; its rounds, seeds and deadline of CPU seconds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from benchmarks.figures.report import table
from benchmarks.tournament import SEEDS, run
from benchmarks.tournament_jobs import Job, talkative

PRICES, PLANNERS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0), ("hold", "search", "albic", "auto")
FIGURES = ("mean", "local_pct", "moves")


def job(seed: int, price: float, by_time: bool) -> Job:
    """By batch time, or by load distance: an engine whose operators run all the time."""
    found = talkative(seed, price)
    return found if by_time else dataclasses.replace(found, model=dataclasses.replace(found.model, batch=None))


def rows() -> Iterator[list[object]]:
    """Mean batch over the ideal one, percent of the traffic that is local, and moves; means over the seeds."""
    for by_time in (True, False):
        for price in PRICES:
            for name in PLANNERS:
                found = [run(job(seed, price, by_time), name, seed) for seed in SEEDS]
                means = [float(np.mean([one[figure] for one in found])) for figure in FIGURES]
                yield ["batch time" if by_time else "load distance", price, name, *means]


def main() -> None:
    """Prints the table."""
    table(("by", "price", "planner", *FIGURES), list(rows()))


if __name__ == "__main__":
    main()
