"""What Spark's own seconds of each task do to the best placement: how far above the bound on the true work it is.

    python benchmarks/spark/own_seconds.py [--own-ms 50,100,140]

No Spark: every task takes its true work and as much more, and `search` places them. Of the placement with the shortest
batches the table tells what its true work alone takes over its bound, and of a placement that is best for the true work
alone how much longer its batches are.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from cases import SHAPES, make_case
from workload import bound_ms, model_of

from streamjob_planners import registry
from streamjob_planners.batch.predict import levels_s
from streamjob_planners.model import PlanParams

CPU_S = 4.0
"""CPU time of one plan, of all its threads."""
FREE = 1e9
"""Payback, batches: moves cost nothing here."""


def shortest(level_ms: np.ndarray, executors: int, cores: int) -> np.ndarray:
    """Owners with which tasks of so many milliseconds take least, (n_groups,)."""
    model = model_of(level_ms / 1000.0, np.ones(executors), cores)
    params = PlanParams(deadline_s=CPU_S, payback_batches=FREE)
    return registry.get("search").solve(model, params, np.random.default_rng(1), time.process_time).node_of


def over_bound(level_ms: np.ndarray, node_of: np.ndarray, executors: int, cores: int) -> float:
    """Stages of such tasks under a placement, over their bound."""
    model = model_of(level_ms / 1000.0, np.ones(executors), cores)
    if model.batch is None:
        raise RuntimeError("a model of stages without a batch")
    took_ms = 1000.0 * float(levels_s(model.batch, node_of, model.batch.task_s).max(axis=1).sum())
    return took_ms / bound_ms(level_ms, executors, cores)


def main() -> None:
    """Print a row for each shape of job and each number of milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--own-ms", default="50,100,140")
    own = [float(one) for one in parser.parse_args().own_ms.split(",")]
    print("| job | own ms of a task | best placement: true work over bound | best for true work: batches over bound |")
    print("|---|---|---|---|")
    for name in SHAPES:
        case = make_case(f"{name}-wait")
        size, true_ms = (case.executors, case.cores), case.workload().level_ms(0)
        for_true = shortest(true_ms, *size)
        for own_ms in own:
            both_ms = true_ms + own_ms
            best, other = over_bound(true_ms, shortest(both_ms, *size), *size), over_bound(both_ms, for_true, *size)
            print(f"| {name} | {own_ms:g} | {best:.2f} | {other:.2f} |", flush=True)


if __name__ == "__main__":
    main()
