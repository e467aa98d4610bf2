"""COLA from scratch (Khandekar et al., Middleware 2009), as the ALBIC paper describes it in section 2.1.

All key groups are one partition at first; the heaviest partition is split in two balanced halves with the least traffic
between them, until the partitions can be given to the nodes with little enough load distance.

COLA is a static optimiser: it has no budget. Under one it goes towards its answer as far as the budget allows, which
takes as many rounds; without one it moves nearly everything at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from scipy import sparse

from streamjob_planners import plans
from streamjob_planners.acceptance import no_worse, permitted
from streamjob_planners.collocation.graph import undirected
from streamjob_planners.collocation.partition import balanced_parts
from streamjob_planners.collocation.walk import start_walk, walk_towards
from streamjob_planners.model import Clock, FloatArray, IntArray, LoadModel, Plan, PlanParams
from streamjob_planners.problem import check_params
from streamjob_planners.units import prices


class ColaPlanner:
    """A placement from scratch, whatever is where today."""

    name = "cola"

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Deterministic: chance is not used. Raises ValueError on bad parameters."""
        start = clock()
        check_params(params)

        def expired() -> bool:
            return clock() - start >= params.deadline_s

        silence = sparse.csr_array((model.n_groups, model.n_groups))
        graph = undirected(silence if model.traffic is None else model.traffic)
        target = permitted(model, cola_owners(model, graph, params.max_load_distance, 0, expired))
        walk = start_walk(model, graph, np.arange(model.n_groups), target, prices(model, params.budget))
        widest = params.max_load_distance
        node_of = walk_towards(walk, (widest, float("inf")), expired)
        kept = node_of if no_worse(model, node_of, params, saves=False) else model.node_of
        return plans.bounded_plan(model, kept, params, planner=self.name, start_s=start, clock=clock)


def cola_owners(
    model: LoadModel, graph: sparse.csr_array, max_load_distance: float, seed: int, expired: Callable[[], bool]
) -> IntArray:
    """The node of each key group, chosen without a look at where it is now, (n_groups,).

    `graph` is the symmetric traffic. Stops early when `expired()`; the partitions so far are then the answer.
    """
    parts = [np.arange(model.n_groups)]
    n_nodes = int((~model.marked).sum())
    while True:
        loads = np.array([model.load[part].sum() for part in parts])
        nodes, distance = _largest_first(model, loads)
        if (len(parts) >= n_nodes and distance <= max_load_distance) or expired():
            break
        heaviest = _heaviest(parts, loads)
        if heaviest is None:
            break
        parts.extend(_halves(graph, parts.pop(heaviest), model.load, seed))
    owners = np.empty(model.n_groups, dtype=np.int64)
    for part, node in zip(parts, nodes, strict=True):
        owners[part] = node
    return owners


def _heaviest(parts: list[IntArray], loads: FloatArray) -> int | None:
    """The heaviest partition of more than one key group; None when there is none."""
    order = np.argsort(-loads, kind="stable")
    return next((int(i) for i in order if parts[int(i)].size > 1), None)


def _halves(graph: sparse.csr_array, part: IntArray, load: FloatArray, seed: int) -> list[IntArray]:
    labels = balanced_parts(graph[part][:, part], load[part], 2, seed)
    if labels.min() == labels.max():
        labels = (np.arange(part.size) >= part.size // 2).astype(np.int64)
    return [part[labels == 0], part[labels == 1]]


def _largest_first(model: LoadModel, loads: FloatArray) -> tuple[IntArray, float]:
    """Each partition to the least used node, heaviest first; the nodes (n_parts,) and the load distance."""
    kept = np.flatnonzero(~model.marked)
    heap = [(0.0, int(node)) for node in kept]
    nodes = np.empty(loads.size, dtype=np.int64)
    for index in np.argsort(-loads, kind="stable"):
        use, node = heapq.heappop(heap)
        nodes[index] = node
        heapq.heappush(heap, (use + float(loads[index]) / float(model.capacity[node]), node))
    mean = float(loads.sum()) / float(model.capacity[kept].sum())
    return nodes, max(abs(use - mean) for use, _ in heap)
