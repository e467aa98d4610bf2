"""Loading compiled loops before the clock of a plan runs.

Compiled code is kept on disk: beside the source, or where NUMBA_CACHE_DIR says (a read-only container needs that, set
to a writable folder, or to one that was filled while its image was built by `python -m streamjob_planners.warm`).
Without either, every process compiles for itself.
"""

from __future__ import annotations

import functools

import numpy as np

from streamjob_planners.columns import GroupIds
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.levelling import levelled
from streamjob_planners.model import Budget, LoadModel, PlanParams
from streamjob_planners.ordering import ordered_moves
from streamjob_planners.problem import compile_problem
from streamjob_planners.thin import thin_out


@functools.cache
def warm_up() -> None:
    """Run every compiled loop once, on a tiny model."""
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
    engine = Engine(compile_problem(model, PlanParams(budget=Budget(max_migrations=1))), 1)
    limits = Limits(lambda: 0.0, 1.0, None)
    found = levelled(engine, limits, 0.0)
    engine.set_bands(np.zeros(2), np.zeros(2))
    engine.run(limits, 1, 0.0, drain=0.0, price=0.0)
    engine.waiting()
    thin_out(engine, found, limits)
    ordered_moves(model, np.array([0, 1]))


if __name__ == "__main__":
    warm_up()
