"""The same world with other nodes or other owners: what a scaling rule and steps of a plan ask for. Pure functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from streamjob_planners import measures
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel, Resource

EXTRA_PREFIX = "extra-"


def with_extra_nodes(model: LoadModel, n: int, capacity: float = 1.0) -> LoadModel:
    """The model with n more empty nodes of that capacity, named extra-1 and so on, after the others.

    The new nodes are open to every group, and have the largest limit of today's unmarked nodes for each further
    resource. Raises ValueError for n below 0 or a capacity of 0 or less.
    """
    if n < 0:
        raise ValueError(f"n: {n} given, 0 or more is needed")
    taken = set(model.node_ids)
    fresh = (f"{EXTRA_PREFIX}{number}" for number in range(1, n + len(taken) + 1))
    new_ids = tuple(name for name in fresh if name not in taken)[:n]
    return dataclasses.replace(
        model,
        node_ids=(*model.node_ids, *new_ids),
        capacity=np.append(model.capacity, np.full(n, float(capacity))),
        marked=np.append(model.marked, np.zeros(n, dtype=np.bool_)),
        resources=tuple(_with_limits(model, resource, n) for resource in model.resources),
        batch=None if model.batch is None else _with_slots(model, model.batch, n, capacity),
    )


def with_marks(model: LoadModel, node_indices: Iterable[int]) -> LoadModel:
    """The model with these nodes marked for removal too; ValueError if no node would be left unmarked."""
    marked = model.marked.copy()
    marked[list(node_indices)] = True
    return dataclasses.replace(model, marked=marked)


def with_owners(model: LoadModel, node_of: IntArray) -> LoadModel:
    """The load model as it would be measured once the key groups are at `node_of`, (n_groups,).

    Serialising and reading remote data costs both ends (ALBIC paper, sections 1 and 4.3.2); local traffic saves it.
    """
    if np.array_equal(node_of, model.node_of):
        return model
    load = measures.planned_load(model, node_of)
    return dataclasses.replace(model, node_of=node_of, load=load, batch=measures.batch_at(model, load))


def choose_marks(model: LoadModel, count: int) -> tuple[int, ...]:
    """Which `count` further nodes to mark: the cheapest to empty, nodes that can be emptied first; indices, ascending.

    The price of emptying a node is the mean of its shares in all migration cost, all state bytes and all load, each
    per unit of capacity given up. Nodes with pinned groups come last: they cannot be emptied. Raises ValueError unless
    at least one node stays unmarked.
    """
    unmarked = np.flatnonzero(~model.marked)
    if not 0 <= count < unmarked.size:
        raise ValueError(f"count: {count} given, 0 to {unmarked.size - 1} is needed")
    price = _emptying_price(model)
    stuck = _has_pinned(model)
    order = sorted(unmarked.tolist(), key=lambda node: (bool(stuck[node]), float(price[node]), -node))
    return tuple(sorted(order[:count]))


def _emptying_price(model: LoadModel) -> FloatArray:
    shares = [_shares(model, amount) for amount in (model.migration_cost_s, model.state_bytes, model.load)]
    mean: FloatArray = np.mean(shares, axis=0) / model.capacity
    return mean


def _shares(model: LoadModel, amount: FloatArray) -> FloatArray:
    held: FloatArray = np.bincount(model.node_of, amount, model.n_nodes).astype(np.float64)
    total = float(held.sum())
    return held / total if total > 0 else held


def _has_pinned(model: LoadModel) -> BoolArray:
    stuck = np.zeros(model.n_nodes, dtype=np.bool_)
    where: IntArray = model.node_of[model.pinned]
    stuck[where] = True
    return stuck


def _with_slots(model: LoadModel, batch: BatchShape, n: int, capacity: float) -> BatchShape:
    """New nodes have the slots of today's, in proportion to their capacity, and the reference speed; a slow node of
    today's has as many slots as if it were not."""
    per_weight = float(batch.slots.sum() / (model.capacity / batch.speed).sum())
    return batch.with_nodes(n, max(1, round(per_weight * capacity)))


def _with_limits(model: LoadModel, resource: Resource, n: int) -> Resource:
    """A marked node may be one that is gone, which may hold all: it is no example."""
    largest = float(resource.limit[~model.marked].max())
    return dataclasses.replace(resource, limit=np.append(resource.limit, np.full(n, largest)))
