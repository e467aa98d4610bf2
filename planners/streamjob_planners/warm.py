"""Loading compiled loops before the clock of a plan runs.

Code that numba compiles is kept on disk: beside the source, or where NUMBA_CACHE_DIR says; `python -m
streamjob_planners.warm` does so. An image brings loops that were compiled before instead, see `building`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

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
    _run(1)


def _run(order: int) -> None:
    """All of them, from the first on (1) or from the last (-1)."""
    for step in _steps()[::order]:
        step()


def _steps() -> tuple[Callable[[], object], ...]:
    """What runs them, in any order."""
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
    fixed, state, found = engine.fixed, engine.state, np.array([0, 1])

    def relays() -> None:
        relayed(engine, limits, Distance(problem), found)
        relay_all(fixed, state, engine.relay, (0.0, 0.0, 0.0, 0.0), 1)

    def levels() -> None:
        engine.sort_groups(limits)
        for first in (levelled(engine, limits, 0.0), model.node_of):  # the second one gives out what leaves
            covered(engine, limits, first, 1.0, 0.0)

    def anneals() -> None:
        engine.set_bands(np.zeros(2), np.zeros(2))
        engine.run(limits, 1, 0.0, drain=0.0, price=0.0)
        heavy_first(engine, limits, (0.0, 0.0))
        anneal_rows(fixed, state, rows_of(fixed, np.ones((1, 2)), found), (0.0, 0.0), (0, 1, 1))

    def closes() -> None:
        closed(engine, limits, Distance(problem), found)
        off_by(state, 0)
        relieve(fixed, state, engine.table, 0, (0.0, 0.0))

    def travels() -> None:
        counts = JourneyCounts(problem, fixed, np.array([True, False]), 1)
        counts.drawn(1.0, engine.rng)
        placement = (counts.kind, model.node_of.copy(), np.zeros(1, dtype=np.int64), counts.off)
        cool(fixed, state, placement, (1.0, 1.0), (0, 0, 1))

    def thins() -> None:
        may_enter(fixed, state, 0, 1)
        send(fixed, state, 0, 1)
        engine.waiting()
        thin_out(engine, found, limits)
        send_unpaid_home(engine, found, 0.0)
        loads_of(fixed, found)
        ordered_moves(model, found)

    return relays, levels, anneals, closes, travels, thins


def compile_all() -> None:
    """In two processes, one from each end: each leaves what it compiles to the other one."""
    with ProcessPoolExecutor(2) as both:
        list(both.map(_run, (1, -1)))  # raises what one of them did


if __name__ == "__main__":
    compile_all()
