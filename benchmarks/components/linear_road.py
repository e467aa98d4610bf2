"""The extended Linear Road of the CBP paper (section 6.3): 30 expressways of six operators, joined by a road network.

The drawing of the gadget is lost; its operators are those of figure 1 and of the benchmark: filter, speed of vehicles,
cars in a segment, toll, the account of a vehicle, and the traffic between places (the paper's o_6), which hands on to
the expressways that begin where this one ends. Attributes are the synthetic stream's: vehicle a1, direction a2, segment
a3, position a4.
"""

from __future__ import annotations

import numpy as np
from benchmarks.components.streams import MINUTES
from benchmarks.components.topology import STATE_TUPLES, Topology

from streamjob_planners.components.graph import OperatorGraph, Stream

VERTICES, DEGREE, GADGET = 10, 3, 6
SOURCE_RPS = 100.0
"""Of each expressway."""
KEYS = (("a1", "a2", "a3", "a4"), ("a1", "a2", "a3"), ("a2", "a3"), ("a2", "a3"), ("a1",), ("a1",))
FLOWS = ((0, 1, 1.0), (0, 2, 1.0), (1, 3, 0.5), (2, 3, 0.5), (3, 4, 0.5), (1, 5, 0.5))
"""From operator, to operator, tuples sent for each one taken in."""
HANDED_ON = 0.1
"""Tuples that o_6 sends to each next expressway for each one taken in from its own."""


def extended_linear_road(seed: int) -> Topology:
    """10 places, 30 expressways, 180 operators."""
    rng = np.random.default_rng([seed, 6])
    ends = [(v, int(u)) for v in range(VERTICES) for u in rng.choice(np.delete(np.arange(VERTICES), v), DEGREE, False)]
    taken = np.zeros(len(ends) * GADGET)
    streams = []

    def send(source: int, target: int, rate: float) -> None:
        taken[target] += rate
        streams.append(Stream(source=source, target=target, load=rate * MINUTES * 60.0))

    for place in range(len(ends)):
        taken[place * GADGET] += SOURCE_RPS
        for one, other, ratio in FLOWS:
            send(place * GADGET + one, place * GADGET + other, float(taken[place * GADGET + one]) * ratio)
    own = taken[GADGET - 1 :: GADGET].copy()
    for place, (_, arrives) in enumerate(ends):
        for other, (leaves, _) in enumerate(ends):
            if leaves == arrives and other > place:  # o_6 hands on one way, so that the graph has no circle
                send(place * GADGET + 5, other * GADGET + 5, float(own[place]) * HANDED_ON)
    keys = tuple(frozenset(key) for _ in ends for key in KEYS)
    states = rng.poisson(STATE_TUPLES, taken.size).astype(np.float64)
    return Topology(graph=OperatorGraph(keys=keys, streams=tuple(streams)), input_rps=taken, state_tuples=states)
