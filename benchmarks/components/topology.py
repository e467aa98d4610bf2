"""The random operator graph of figure 2 of the CBP paper, and what each stream of it carries.

The paper does not say how its graphs are made. Operators come one after another; each gets its input from `degree` of
those before it, the source among them (from all where there are fewer). A tuple that an operator lets through goes to
one of the next operators, each as likely. Selectivities are drawn from N(0.5, 1) and cut to [0, 1]; the source lets all
pass.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from benchmarks.components.streams import ATTRIBUTES, MINUTES, RATE_RPS

from streamjob_planners.arrays import FloatArray
from streamjob_planners.components.graph import OperatorGraph, Stream

STATE_TUPLES = 10_000.0
"""Mean of |PS_o|, figure 2: what the Poisson process gives in a second."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Topology:
    """A graph whose streams carry tuples over all MINUTES, what each operator takes in per second, and its state."""

    graph: OperatorGraph
    input_rps: FloatArray
    state_tuples: FloatArray

    @property
    def processed(self) -> float:
        """The paper's N_1: tuples processed by all operators over all MINUTES."""
        return float(self.input_rps.sum()) * MINUTES * 60.0


def random_topology(degree: int, seed: int, n_operators: int = 100) -> Topology:
    """One graph; the same seed gives the same."""
    rng = np.random.default_rng([seed, degree])
    heard = [rng.choice(one + 1, min(degree, one + 1), replace=False) - 1 for one in range(n_operators)]
    targets = {one: [other for other in range(n_operators) if one in heard[other]] for one in range(-1, n_operators)}
    selectivity = np.clip(rng.normal(0.5, 1.0, n_operators), 0.0, 1.0)
    taken = np.zeros(n_operators)
    taken[targets[-1]] = RATE_RPS / len(targets[-1])
    streams = []
    for one in range(n_operators):
        for target in targets[one]:
            sent = float(taken[one] * selectivity[one] / len(targets[one]))
            taken[target] += sent
            streams.append(Stream(source=one, target=target, load=sent * MINUTES * 60.0))
    keys = tuple(frozenset(rng.choice(ATTRIBUTES, 2, replace=False).tolist()) for _ in range(n_operators))
    return Topology(
        graph=OperatorGraph(keys=keys, streams=tuple(streams)),
        input_rps=taken,
        state_tuples=rng.poisson(STATE_TUPLES, n_operators).astype(np.float64),
    )
