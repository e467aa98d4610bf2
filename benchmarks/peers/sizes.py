"""The instances that are compared on, by size, and the deadlines that are asked about."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from benchmarks import worlds
from benchmarks.peers.instance import Instance

MEAN_LOAD = 50.0
PAPER = (
    (20, 400, 10, 40.0, 20),
    (20, 400, 10, 80.0, 10),
    (40, 800, 20, 60.0, 40),
    (40, 800, 20, 100.0, 20),
    (60, 1200, 30, 40.0, 40),
    (60, 1200, 30, 80.0, 30),
)
"""A sample of section 5.1's 72 instances: nodes, key groups, operators, varies, moves."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """`trials` makes instance number 0, 1, ...; `integer_programs` is False where the full model cannot be held."""

    label: str
    deadlines_s: Sequence[float]
    trials: int
    instance: Callable[[int], Instance]
    integer_programs: bool


def paper_instance(trial: int) -> Instance:
    """One of the sample."""
    nodes, groups, operators, varies, moves = PAPER[trial]
    world = worlds.solver_world(nodes, groups, operators, varies, 1)
    name = f"{nodes}/{groups} v{varies:g} K{moves}"
    return Instance(name=name, n_nodes=nodes, max_moves=moves, node_of=world.node_of, load=world.base_load)


def large_instance(n_nodes: int, n_groups: int, trial: int) -> Instance:
    """Log-normal loads (sigma 1), as many key groups on each node; a tenth of them may move."""
    rng = np.random.default_rng(trial + 1)
    load = rng.lognormal(0.0, 1.0, n_groups)
    return Instance(
        name=f"{n_nodes}/{n_groups} log-normal, trial {trial}",
        n_nodes=n_nodes,
        max_moves=n_groups // 10,
        node_of=worlds.even_placement(n_nodes, n_groups, rng),
        load=load * MEAN_LOAD * n_nodes / load.sum(),
    )


def _large(n_nodes: int, n_groups: int, deadlines_s: Sequence[float], trials: int, *, programs: bool) -> Size:
    return Size(
        label=f"{n_nodes:,} x {n_groups:,}",
        deadlines_s=deadlines_s,
        trials=trials,
        instance=lambda trial: large_instance(n_nodes, n_groups, trial),
        integer_programs=programs,
    )


SIZES = {
    "paper": Size(
        label="section 5.1, sample of 6",
        deadlines_s=(1.0, 5.0),
        trials=len(PAPER),
        instance=paper_instance,
        integer_programs=True,
    ),
    "100": _large(100, 10_000, (1.0, 5.0), 3, programs=True),
    "1000": _large(1000, 100_000, (1.0, 5.0, 30.0), 3, programs=False),
    "10000": _large(10_000, 1_000_000, (1.0, 5.0, 30.0), 1, programs=False),
}
