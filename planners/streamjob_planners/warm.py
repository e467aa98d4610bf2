"""Loading compiled loops before the clock of a plan runs.

Code that numba compiles is kept on disk: beside the source, or where NUMBA_CACHE_DIR says. An image brings loops that
were compiled before instead, see `building`.
"""

from __future__ import annotations

import functools

import numpy as np

from streamjob_planners.batch_thin import send_unpaid_home
from streamjob_planners.closing import closed
from streamjob_planners.columns import GroupIds
from streamjob_planners.covering import covered
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.heavy_first import heavy_first
from streamjob_planners.journey_counts import JourneyCounts
from streamjob_planners.kernel.cells import loads_of
from streamjob_planners.kernel.exchange import off_by, relieve
from streamjob_planners.kernel.journeys import cool
from streamjob_planners.kernel.relay import relay_all
from streamjob_planners.kernel.swing import anneal_rows
from streamjob_planners.kernel.transfer import may_enter, send
from streamjob_planners.levelling import levelled
from streamjob_planners.model import Budget, LoadModel, PlanParams
from streamjob_planners.ordering import ordered_moves
from streamjob_planners.problem import compile_problem
from streamjob_planners.relaying import relayed
from streamjob_planners.swings.rows import rows_of
from streamjob_planners.thin import thin_out


@functools.cache
def warm_up() -> None:
    """Run every loop that Python calls once, on a tiny model."""
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
    engine.sort_groups(limits)
    found = covered(engine, limits, levelled(engine, limits, 0.0), 1.0, 0.0)
    covered(engine, limits, model.node_of, 1.0, 0.0)  # gives out what leaves, as long as levelling has not done better
    engine.set_bands(np.zeros(2), np.zeros(2))
    engine.run(limits, 1, 0.0, drain=0.0, price=0.0)
    heavy_first(engine, limits, (0.0, 0.0))
    closed(engine, limits, Distance(problem), np.array([0, 1]))
    relayed(engine, limits, Distance(problem), np.array([0, 1]))
    relay_all(engine.fixed, engine.state, engine.relay, (0.0, 0.0, 0.0, 0.0), 1)
    counts = JourneyCounts(problem, engine.fixed, np.array([True, False]), 1)
    counts.drawn(1.0, engine.rng)
    placement = (counts.kind, model.node_of.copy(), np.zeros(1, dtype=np.int64), counts.off)
    cool(engine.fixed, engine.state, placement, (1.0, 1.0), (0, 0, 1))
    off_by(engine.state, 0)
    relieve(engine.fixed, engine.state, engine.table, 0, (0.0, 0.0))
    may_enter(engine.fixed, engine.state, 0, 1)
    send(engine.fixed, engine.state, 0, 1)
    engine.waiting()
    thin_out(engine, found, limits)
    send_unpaid_home(engine, found, 0.0)
    loads_of(engine.fixed, found)
    ordered_moves(model, np.array([0, 1]))
    anneal_rows(engine.fixed, engine.state, rows_of(engine.fixed, np.ones((1, 2)), found), (0.0, 0.0), (0, 1, 1))


if __name__ == "__main__":
    warm_up()
