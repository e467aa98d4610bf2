"""Loading compiled loops before the clock of a plan runs.

Compiled code is kept on disk: beside the source, or where NUMBA_CACHE_DIR says (a read-only container needs that, set
to a writable folder). Without either, every process compiles for itself. An image can bring compiled code along: its
build runs `python -m streamjob_planners.warm` into a folder that STREAMJOB_COMPILED_LOOPS names when it runs; what it
brings is of use where NUMBA_CPU_NAME and the sources are the same.
"""

from __future__ import annotations

import functools
import os
import shutil
from pathlib import Path

import numpy as np

from streamjob_planners.batch_thin import send_unpaid_home
from streamjob_planners.closing import closed
from streamjob_planners.columns import GroupIds
from streamjob_planners.covering import covered
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.kernel.cells import loads_of
from streamjob_planners.levelling import levelled
from streamjob_planners.model import Budget, LoadModel, PlanParams
from streamjob_planners.ordering import ordered_moves
from streamjob_planners.problem import compile_problem
from streamjob_planners.thin import thin_out


@functools.cache
def warm_up() -> None:
    """Run every compiled loop once, on a tiny model."""
    brought, kept = os.environ.get("STREAMJOB_COMPILED_LOOPS"), os.environ.get("NUMBA_CACHE_DIR")
    if brought and kept:
        take_over(Path(brought), Path(kept))
    model = LoadModel(
        node_ids=("a", "b"),
        capacity=np.ones(2),
        marked=np.zeros(2, dtype=np.bool_),
        group_ids=GroupIds(operator=np.zeros(2, dtype=np.int64), partition=np.arange(2)),
        node_of=np.zeros(2, dtype=np.int64),
        load=np.array([1.0, 2.0]),
        migration_cost_s=np.ones(2),
        state_bytes=np.ones(2),
        pinned=np.zeros(2, dtype=np.bool_),
    )
    problem = compile_problem(model, PlanParams(budget=Budget(max_migrations=1)))
    engine, limits = Engine(problem, 1), Limits(lambda: 0.0, 1.0, None)
    found = covered(engine, limits, levelled(engine, limits, 0.0), 1.0, 0.0)
    engine.set_bands(np.zeros(2), np.zeros(2))
    engine.run(limits, 1, 0.0, drain=0.0, price=0.0)
    closed(engine, limits, Distance(problem), np.array([0, 1]))
    engine.waiting()
    thin_out(engine, found, limits)
    send_unpaid_home(engine, found, 0.0)
    loads_of(engine.fixed, found)
    ordered_moves(model, np.array([0, 1]))


def take_over(brought: Path, kept: Path) -> None:
    """Copy the files of `brought` that `kept` lacks. Safe while other processes do the same."""
    for file in sorted(one for one in brought.rglob("*") if one.is_file()):
        target = kept / file.relative_to(brought)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            draft = target.with_name(f"{target.name}.{os.getpid()}")
            shutil.copyfile(file, draft)
            draft.replace(target)


if __name__ == "__main__":
    warm_up()
