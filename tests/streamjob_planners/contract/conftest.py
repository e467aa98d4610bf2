"""Worlds and clocks for the contract that every planner of the registry keeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse

from streamjob_planners import registry
from streamjob_planners.batch.shape import BatchShape, FreeStage
from streamjob_planners.model import Budget, GroupId, LoadModel, PlanParams, Resource

LOADS = {
    "even": lambda rng, n: rng.uniform(4.0, 6.0, n),
    "skewed": lambda rng, n: rng.lognormal(1.0, 1.0, n),
    "giant": lambda rng, n: np.append(rng.uniform(1.0, 2.0, n - 1), 90.0) if n else np.zeros(0),
    "idle": lambda rng, n: np.zeros(n),
    "some idle": lambda rng, n: rng.uniform(0.0, 8.0, n) * (rng.random(n) < 0.6),
}
BUDGETS = (
    Budget(),
    Budget(max_migrations=0),
    Budget(max_migrations=3),
    Budget(max_cost_s=2.0),
    Budget(max_state_bytes=3000.0),
    Budget(max_cost_s=4.0, max_migrations=5, max_state_bytes=5000.0),
)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[LoadModel, PlanParams]:
    """A model and parameters: small, and with every feature of the model now and then."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_nodes, n_groups = draw(st.integers(1, 6)), draw(st.integers(0, 24))
    marked = np.arange(n_nodes) < draw(st.integers(0, n_nodes - 1))
    features = draw(st.sets(st.sampled_from(["capacities", "pinned", "resources", "traffic", "series"])))
    load = LOADS[draw(st.sampled_from(sorted(LOADS)))](rng, n_groups)
    model = LoadModel(
        node_ids=tuple(f"n{i}" for i in range(n_nodes)),
        capacity=rng.uniform(0.5, 2.0, n_nodes) if "capacities" in features else np.ones(n_nodes),
        marked=rng.permutation(marked),
        group_ids=tuple(GroupId(operator=k % 3, partition=k) for k in range(n_groups)),
        node_of=rng.integers(0, n_nodes, n_groups),
        load=load,
        migration_cost_s=rng.uniform(0.0, 1.0, n_groups),
        state_bytes=rng.uniform(0.0, 1000.0, n_groups),
        traffic=sparse.random_array((n_groups, n_groups), density=0.1, rng=rng, format="csr")
        if "traffic" in features and n_groups
        else None,
        traffic_load_ratio=0.01,
        pinned=(rng.random(n_groups) < 0.2) & ("pinned" in features),
        resources=(_memory(rng, n_groups, n_nodes),) if "resources" in features else (),
        load_series=load * rng.uniform(0.2, 1.8, (draw(st.integers(0, 6)), n_groups)) if "series" in features else None,
    )
    params = PlanParams(
        budget=draw(st.sampled_from(BUDGETS)),
        tolerance=draw(st.sampled_from([0.0, 0.5])),
        price_per_move=draw(st.sampled_from([0.0, 0.05])),
        least_gain_ratio=draw(st.sampled_from([0.0, 0.01])),
        deadline_s=0.2,
        max_iterations=2_000,
    )
    return frozen(model), params


def _memory(rng: np.random.Generator, n_groups: int, n_nodes: int) -> Resource:
    """Even or heavy-tailed use; limits alike or not, from far too small for some nodes to large enough for all."""
    use = rng.uniform(0.0, 1.0, n_groups) if rng.random() < 0.5 else rng.lognormal(0.0, 1.5, n_groups)
    each = rng.uniform(0.4, 2.5) if rng.random() < 0.5 else rng.uniform(0.2, 2.5, n_nodes)
    return Resource(name="memory", use=use, limit=np.full(n_nodes, use.sum() / n_nodes) * each)


@st.composite
def batches(draw: st.DrawFn) -> tuple[LoadModel, PlanParams]:
    """The same worlds as queries of one to five chained stages, on executors of one to eight slots."""
    model, params = draw(worlds())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_nodes, n_groups = model.n_nodes, model.n_groups
    several, uneven = draw(st.booleans()), draw(st.booleans())
    batch = BatchShape(
        level=rng.integers(0, draw(st.integers(1, 5)), n_groups),
        task_s=model.load * rng.uniform(0.05, 0.15, n_groups),
        spread_s=model.load * 0.01,
        slots=rng.integers(1, 9, n_nodes) if several else np.ones(n_nodes, dtype=np.int64),
        speed=rng.choice([0.5, 1.0, 1.5], n_nodes) if uneven else np.ones(n_nodes),
        fixed_s=0.3,
        free_stages=(FreeStage(work_s=1.0, longest_s=0.2),),
    )
    node_of = model.node_of
    if draw(st.booleans()):  # a new executor, still empty
        node_of = np.where(node_of == n_nodes - 1, 0, node_of)
    return frozen(dataclasses.replace(model, batch=batch, node_of=node_of)), params


def frozen(model: LoadModel) -> LoadModel:
    """The model with arrays that cannot be written to, those of its matrices and resources as well."""
    for array in arrays_of(model):
        array.setflags(write=False)
    return model


def arrays_of(model: LoadModel) -> list[np.ndarray]:
    """Every array that a model holds."""
    arrays = [getattr(model, field.name) for field in dataclasses.fields(model)]
    arrays += [array for one in model.resources for array in (one.use, one.limit)]
    if model.batch is not None:
        arrays += [getattr(model.batch, name) for name in ("level", "task_s", "spread_s", "slots", "speed")]
    table = model.traffic
    arrays += [] if table is None else [table.data, table.indices, table.indptr]
    return [array for array in arrays if isinstance(array, np.ndarray)]


EXCEPTIONS = {
    ("hold", "balances"): "changes nothing",
    ("hold", "drains"): "changes nothing",
    ("clb", "balances"): "knows no load but the series over windows, and these models have none",
    ("cola", "drains"): "places from scratch and ends where the budget does, which is why the paper compares with it",
    ("cola", "balances"): "splits until the load distance is max_load_distance, and no further",
    ("milp-paper", "drains"): "has the load distance alone for a goal, as published: lemma 2 fails for whole groups",
    ("albic-paper-milp", "drains"): "has the published program inside, which need not drain",
    **{
        (name, "batch time"): "levels the load over all stages, as its paper does"
        for name in (
            "albic-paper",
            "albic-paper-milp",
            "clb",
            "cola",
            "cor-bal",
            "cor-glb",
            "cor-re",
            "cor-se",
            "elb",
            "flux",
            "milp-paper",
            "non-integrated",
        )
    },
    ("hold", "batch time"): "changes nothing",
    ("cola", "order of inputs"): "METIS breaks ties by the order of its vertices",
}
"""The one place where a planner says what it is not meant to do, and why."""


class SteppingClock:
    """A clock that goes on by a fixed time whenever it is read."""

    def __init__(self, step_s: float = 0.001) -> None:
        self.now_s = 0.0
        self._step_s = step_s

    def __call__(self) -> float:
        self.now_s += self._step_s
        return self.now_s


@pytest.fixture(scope="session")
def any_world() -> st.SearchStrategy[tuple[LoadModel, PlanParams]]:
    return worlds()


@pytest.fixture(scope="session")
def any_batch() -> st.SearchStrategy[tuple[LoadModel, PlanParams]]:
    return batches()


@pytest.fixture(scope="session")
def held_by() -> Callable[[LoadModel], list[np.ndarray]]:
    return arrays_of


@pytest.fixture(scope="session")
def stepping_clock() -> type[SteppingClock]:
    return SteppingClock


@pytest.fixture(scope="session", params=registry.names())
def planner(request):
    return registry.get(request.param)


@pytest.fixture(scope="session")
def promises(planner) -> Callable[[str], None]:
    """Skips the test of a promise that the planner does not make."""

    def ask(promise: str) -> None:
        exception = EXCEPTIONS.get((planner.name, promise))
        if exception is not None:
            pytest.skip(f"{planner.name} {exception}")

    return ask
