"""End-to-end latency of a plan on 30 nodes (section 6.3 of the CBP paper), by a model in place of EC2.

A tuple takes one unit of work at each operator and, wherever it goes to another node, half a unit to pack it and half
to unpack it. The cluster is as large as the baseline needs for 70 % utilisation. An instance whose share of its
component is above the mean is busier by as much; a tuple waits there as in a queue with one server, which is taken to
be at most 98 % busy and never to keep one longer than 3 s. An adaptation holds the partitions that it moves for as long
as their state takes to ship; their tuples wait until then.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from benchmarks.components.adapting import Adapter, Life
from benchmarks.components.topology import Topology

from streamjob_planners.arrays import FloatArray
from streamjob_planners.components.graph import Members

PACKING, BASELINE_USE, HOP_S = 0.5, 0.7, 0.005
WORK_S = 0.010
"""Seconds of one unit of work; it scales every wait, so only ratios between algorithms mean something."""
PAUSE_S, SHIP_TUPLES_PER_S = 0.5, 20_000.0
WORST_USE, WORST_WAIT_S = 0.98, 3.0
SAMPLES = 20_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Deployment:
    """Components, and the part of each stream that crosses nodes, in the order of the graph's streams."""

    plan: list[Members]
    crossed: list[float]


def work(topology: Topology, deployment: Deployment) -> float:
    """Units of work a second of all operators."""
    sent = sum(s.load * part for s, part in zip(topology.graph.streams, deployment.crossed, strict=True))
    return float(topology.input_rps.sum() + 2.0 * PACKING * sent / topology.graph.total * _rate(topology))


def _rate(topology: Topology) -> float:
    entering = topology.processed - topology.graph.total
    return float(topology.input_rps.sum() * topology.graph.total / (topology.graph.total + entering))


def sampled(topology: Topology, adapter: Adapter, deployment: Deployment, capacity: float, seed: int) -> FloatArray:
    """Latency of tuples from a source to an operator that sends nothing on, seconds, (SAMPLES,)."""
    rng = np.random.default_rng(seed)
    use = work(topology, deployment) / capacity
    home = {one: adapter.life(members) for members in deployment.plan for one in members}
    size = {one: float(topology.state_tuples[list(members)].sum()) for members in deployment.plan for one in members}
    heads = [one for one in range(topology.graph.n_operators) if _fed(topology, one)]
    nexts: dict[int, list[tuple[int, float]]] = {}
    for stream, part in zip(topology.graph.streams, deployment.crossed, strict=True):
        nexts.setdefault(stream.source, []).append((stream.target, part))
    found = np.empty(SAMPLES)
    for sample in range(SAMPLES):
        period = int(rng.integers(adapter.n_adaptations))
        one, waited, held = heads[int(rng.integers(len(heads)))], 0.0, set()
        while True:
            life = home[one]
            waited += _wait(life, period, use, rng)
            if id(life) not in held:  # a component's pause holds a tuple once
                held.add(id(life))
                waited += _held(life, period, size[one], adapter, rng)
            if one not in nexts:
                break
            one, part = nexts[one][int(rng.integers(len(nexts[one])))]
            waited += HOP_S if rng.random() < part else 0.0
        found[sample] = waited
    return found


def _fed(topology: Topology, one: int) -> bool:
    return all(stream.target != one for stream in topology.graph.streams)


def _wait(life: Life, period: int, use: float, rng: np.random.Generator) -> float:
    shares = life.shares[period]
    working = shares[shares > 0.0]
    share = float(rng.choice(working, p=working / working.sum()))
    busy = use * share * working.size
    return min(WORST_WAIT_S, float(rng.exponential(WORK_S / (1.0 - min(busy, WORST_USE)))))


def _held(life: Life, period: int, state: float, adapter: Adapter, rng: np.random.Generator) -> float:
    moved = float(life.moved[period])
    pause = PAUSE_S + moved * state / SHIP_TUPLES_PER_S
    hit = rng.random() < moved and rng.random() < pause / (adapter.period_minutes * 60.0)
    return float(rng.uniform(0.0, pause)) if hit else 0.0
