"""SCIP on the full integer program, starting from today's assignment."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.peers.instance import Incumbent, Instance
from pyscipopt import SCIP_EVENTTYPE, Eventhdlr, Model, quicksum

Table = list[list[Any]]


class _Watcher(Eventhdlr):
    """Offers every new best solution."""

    def __init__(self, offer: Callable[[], None]) -> None:
        self._offer = offer

    def eventinit(self) -> None:
        """Called by SCIP before it solves."""
        self.model.catchEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)

    def eventexec(self, _: Any) -> None:
        """Called by SCIP at every new best solution."""
        self._offer()


def prepare(instance: Instance, incumbent: Incumbent) -> Callable[[float], None]:
    """Builds the program row by row."""
    model, groups, nodes = Model(), range(instance.load.size), range(instance.n_nodes)
    model.hideOutput()
    table = [[model.addVar(vtype="B") for _ in nodes] for _ in groups]
    distance = model.addVar(lb=0.0)
    for group in groups:
        model.addCons(quicksum(table[group]) == 1)
    for node in nodes:
        held = quicksum(float(instance.load[group]) * table[group][node] for group in groups)
        model.addCons(held - distance <= instance.mean)
        model.addCons(held + distance >= instance.mean)
    stays = quicksum(table[group][instance.node_of[group]] for group in groups)
    model.addCons(stays >= instance.load.size - instance.max_moves)
    model.setObjective(distance, "minimize")
    _start(model, instance, table, distance)

    def offer() -> None:
        incumbent.offer(_placement(model, table))

    model.includeEventhdlr(_Watcher(offer), "watcher", "offers every new best solution")
    return functools.partial(_run, model, offer)


def _run(model: Model, offer: Callable[[], None], deadline_s: float) -> None:
    model.setParam("limits/time", deadline_s)
    model.optimize()
    if model.getNSols():
        offer()


def _start(model: Model, instance: Instance, table: Table, distance: Any) -> None:
    loads = np.bincount(instance.node_of, weights=instance.load, minlength=instance.n_nodes)
    start = model.createSol()
    for group, node in enumerate(instance.node_of.tolist()):
        model.setSolVal(start, table[group][node], 1.0)
    model.setSolVal(start, distance, float(np.abs(loads - instance.mean).max()))
    model.addSol(start)


def _placement(model: Model, table: Table) -> np.ndarray:
    best = model.getBestSol()
    return np.array([int(np.argmax([model.getSolVal(best, one) for one in row])) for row in table])
