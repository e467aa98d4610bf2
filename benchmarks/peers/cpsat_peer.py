"""CP-SAT on the full integer program, starting from today's assignment."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from benchmarks.peers.instance import Incumbent, Instance
from ortools.sat.python import cp_model

UNITS = 10_000
"""Integers per percent point."""
WORKERS = 8
"""Fewer leave out the neighbourhood searches."""


class _Watcher(cp_model.CpSolverSolutionCallback):
    """Offers every new best solution."""

    def __init__(self, offer: Callable[[Callable[[int], int]], None]) -> None:
        super().__init__()
        self._offer = offer

    def on_solution_callback(self) -> None:
        """Called by the solver."""
        self._offer(lambda index: int(self.response_proto.solution[index]))


def prepare(instance: Instance, incumbent: Incumbent) -> Callable[[float], None]:
    """x of group k on node i has the index k * n_nodes + i."""
    model, nodes, groups = cp_model.CpModel(), range(instance.n_nodes), range(instance.load.size)
    load = np.rint(instance.load * UNITS).astype(np.int64)
    table = [[model.new_bool_var("") for _ in nodes] for _ in groups]
    distance = model.new_int_var(0, int(load.sum()), "d")
    mean = round(instance.mean * UNITS)
    for row in table:
        model.add_exactly_one(row)
    for node in nodes:
        held = cp_model.LinearExpr.weighted_sum([row[node] for row in table], load.tolist())
        model.add(held - distance <= mean)
        model.add(held + distance >= mean)
    stays = cp_model.LinearExpr.sum([table[group][instance.node_of[group]] for group in groups])
    model.add(stays >= instance.load.size - instance.max_moves)
    for group in groups:
        for node in nodes:
            model.add_hint(table[group][node], bool(node == instance.node_of[group]))
    loads = np.bincount(instance.node_of, weights=load, minlength=instance.n_nodes)
    model.add_hint(distance, int(np.abs(loads - mean).max()))
    model.minimize(distance)

    def offer(value: Callable[[int], int]) -> None:
        cells = np.fromiter((value(index) for index in range(instance.cells)), dtype=np.int8, count=instance.cells)
        incumbent.offer(cells.reshape(-1, instance.n_nodes).argmax(axis=1))

    return functools.partial(_run, model, offer)


def _run(model: cp_model.CpModel, offer: Callable[[Callable[[int], int]], None], deadline_s: float) -> None:
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = deadline_s
    solver.parameters.num_workers = WORKERS
    solver.solve(model, _Watcher(offer))
