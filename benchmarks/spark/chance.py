"""What there is to win in each case of the comparison: key groups spread evenly by number, but otherwise by chance.

    python benchmarks/spark/chance.py [--draws 5000]

Prints the makespan of such a placement over the bound, without Spark and without its fixed cost: vanilla Spark's
placement by the first batch is at best of this kind. Placements with uneven numbers of key groups are worse.
"""

from __future__ import annotations

import argparse

import numpy as np
from cases import make_case
from workload import SKEWS


def over_bound(name: str, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Makespan over the bound in the case's first phase for each draw, (draws,), at least 1."""
    case = make_case(name)
    loads_ms = np.stack([rng.permutation(case.workload().level_ms(0)[0]) for _ in range(draws)])
    makespans_ms = loads_ms.reshape(draws, case.slots, -1).sum(axis=2).max(axis=1)
    return np.asarray(makespans_ms / case.workload().bound_ms(case.executors, case.cores, 0))


def main() -> None:
    """Print a row for each case with work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5000)
    draws = parser.parse_args().draws
    print("| case | 10 % are below | median | 10 % are above |\n|---|---|---|---|")
    for name in (f"{skew}-{kind}" for kind in ("cpu", "wait") for skew in SKEWS if skew != "none"):
        low, middle, high = np.quantile(over_bound(name, draws, np.random.default_rng(1)), (0.1, 0.5, 0.9))
        print(f"| {name} | {low:.2f} | {middle:.2f} | {high:.2f} |")


if __name__ == "__main__":
    main()
