"""Load models small enough to hold in the head, as fixtures that are functions."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from streamjob_planners import building
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.model import Budget, GroupId, LoadModel, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.tightening import tightened

sys.path.insert(0, str(Path(__file__).parent))  # for `pieces`

PRICED_S = 10.0
"""Seconds that moves of the problem with prices may take: about as many moves."""


@pytest.fixture(scope="session", autouse=True)
def _one_kind_of_arrays() -> Iterator[None]:
    """After all tests: no loop was called with two kinds, as one that is compiled ahead of time knows one alone."""
    yield
    if not any(loop.signatures for _, _, loop in building.places_of_loops()):
        return  # no test called one, and to compile them all for the first time takes a quarter of a minute
    kinds = {name: call.loop.signatures for name, call in building.called().items()}
    several = {name: signatures for name, signatures in kinds.items() if len(signatures) > 1}
    assert not several


def _small_model(
    node_of: list[int],
    load: list[float],
    links: dict[tuple[int, int], float] | None = None,
    *,
    n_nodes: int,
    operators: list[int] | None = None,
    **changes: object,
) -> LoadModel:
    """A model with unit costs; `links` are bytes/s from key group to key group."""
    n_groups = len(node_of)
    operator_of = operators or [0] * n_groups
    traffic = None
    if links is not None:
        rows, cols = [i for i, _ in links], [j for _, j in links]
        table = sparse.coo_array(
            (np.array(list(links.values()), dtype=float), (rows, cols)), shape=(n_groups, n_groups)
        )
        traffic = sparse.csr_array(table)
    model = LoadModel(
        node_ids=tuple(f"n{i}" for i in range(n_nodes)),
        capacity=np.ones(n_nodes),
        marked=np.zeros(n_nodes, dtype=np.bool_),
        group_ids=tuple(GroupId(operator=op, partition=i) for i, op in enumerate(operator_of)),
        node_of=np.array(node_of, dtype=np.int64),
        load=np.array(load, dtype=np.float64),
        migration_cost_s=np.ones(n_groups),
        state_bytes=np.full(n_groups, 100.0),
        traffic=traffic,
        pinned=np.zeros(n_groups, dtype=np.bool_),
    )
    return dataclasses.replace(model, **changes)


def _one_to_one(n_nodes: int, per_node: int, n_operators: int, seed: int = 0, **changes: object) -> LoadModel:
    """A chain of operators, key group i of each sending to key group i of the next; placed evenly at random."""
    rng = np.random.default_rng(seed)
    n_groups = n_nodes * per_node
    width = n_groups // n_operators
    links = {(i, i + width): 1000.0 for i in range(n_groups - width)}
    return _small_model(
        rng.permutation(np.arange(n_groups) % n_nodes).tolist(),
        (50.0 / per_node * rng.uniform(0.95, 1.05, n_groups)).tolist(),
        links,
        n_nodes=n_nodes,
        operators=(np.arange(n_groups) // width).tolist(),
        **changes,
    )


@pytest.fixture
def small_model() -> Callable[..., LoadModel]:
    return _small_model


@pytest.fixture
def one_to_one() -> Callable[..., LoadModel]:
    return _one_to_one


@pytest.fixture
def problem_of(small_model):
    """Twelve nodes, twenty groups each by chance; few moves."""
    rng = np.random.default_rng(3)
    load, at = rng.lognormal(0.0, 1.0, 240), rng.integers(0, 12, 240).tolist()

    def made(moves=20, **changes):
        model = small_model(at, (600 * load / load.sum()).tolist(), n_nodes=12, **changes)
        return compile_problem(model, PlanParams(budget=Budget(max_migrations=moves), tolerance=0.0))

    return made


@pytest.fixture
def engine_at(problem_of):
    """An engine with a placement whose bands were drawn a little closer, so that some nodes are off."""

    def made(part=0.7, seed=1, **changes):
        problem = problem_of(**changes)
        engine, limits, aim = Engine(problem, seed), Limits(lambda: 0.0, 1.0, 100_000), Distance(problem)
        engine.sort_groups(limits)
        best = tightened(engine, limits, aim, problem.model.node_of)
        engine.load(best)
        aim.set_closer(engine, best, part)
        return engine

    return made


@pytest.fixture
def priced(problem_of):
    """The same problem, but moves take the seconds that they take, and only these are limited."""
    model = problem_of().model
    cost_s = np.random.default_rng(4).lognormal(-0.7, 1.0, model.n_groups)
    changed = dataclasses.replace(model, migration_cost_s=cost_s)
    return compile_problem(changed, PlanParams(budget=Budget(max_cost_s=PRICED_S), tolerance=0.0))


@pytest.fixture
def priced_engine(priced):
    """An engine with a placement of that whose bands were drawn a little closer."""
    engine, limits, aim = Engine(priced, 1), Limits(lambda: 0.0, 1.0, 100_000), Distance(priced)
    engine.sort_groups(limits)
    best = tightened(engine, limits, aim, priced.model.node_of)
    engine.load(best)
    aim.set_closer(engine, best, 0.7)
    return engine
