"""What adapting one component moves: scaling and balancing of its instances, every 1/f minutes (sections 2.1 and 4.1).

The paper names no balancer and no rule of scaling. Instances are added above 90 % of their capacity and taken away
below 50 %; then partitions go from the most to the least loaded instance, the largest that fits first, as Flux does,
until none helps. What moves is the state of every operator of the component in that partition.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from benchmarks.components.streams import MINUTES, PARTITIONS, SourceStream
from benchmarks.components.topology import Topology

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.components.graph import Members

INSTANCE_RPS = 100.0
"""Tuples that one instance processes in a second; it has a node of its own (section 1). 3 instances an operator."""
AIM, MOST, LEAST = 0.7, 0.9, 0.5
"""Utilisation after scaling, and the two at which it is done."""
TOLERATED = 1.1
"""Load over the mean up to which an instance is left alone."""
GRID = 1.2
"""Loads within this ratio of each other are simulated once."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Life:
    """One component over all minutes: `moved` is the share of its state that each adaptation moved, (n_adaptations,).

    `shares` is the part of the tuples that each instance got in each period, (n_adaptations, most instances).
    """

    moved: FloatArray
    shares: FloatArray


class Adapter:
    """Lives of components over one stream, each simulated when it is first asked for."""

    def __init__(self, topology: Topology, stream: SourceStream, period_minutes: int) -> None:
        self._topology = topology
        self._stream = stream
        self.period_minutes = self._minutes = period_minutes
        self._lives: dict[tuple[frozenset[str], int], Life] = {}
        self._costs: dict[Members, float] = {}

    @property
    def n_adaptations(self) -> int:
        """How often every component is looked at."""
        return MINUTES // self._minutes

    def cost(self, members: Members) -> float:
        """The paper's psi: state tuples that a component moves over all minutes."""
        if members not in self._costs:
            state = float(self._topology.state_tuples[list(members)].sum())
            self._costs[members] = state * float(self.life(members).moved.sum())
        return self._costs[members]

    def life(self, members: Members) -> Life:
        """Members as one component, partitioned by all attributes that they share."""
        load = float(self._topology.input_rps[list(members)].sum())
        step = round(math.log(max(load, 1.0)) / math.log(GRID))
        which = (self._topology.graph.key_of(members), step)
        if which not in self._lives:
            self._lives[which] = self._lived(which[0], GRID**step, step)
        return self._lives[which]

    def _lived(self, key: frozenset[str], load_rps: float, seed: int) -> Life:
        rng = np.random.default_rng([seed, self._minutes])
        mean = self._stream.partitions(key) * (load_rps * 60.0 * self._stream.rate)[:, None]
        periods = rng.poisson(mean).reshape(-1, self._minutes, PARTITIONS).sum(axis=1) / (60.0 * self._minutes)
        n = needed(float(periods[0].sum()))
        owner = np.arange(PARTITIONS) % n
        balance(owner, periods[0], n)
        moved, shares = [0.0], [shared(owner, periods[0])]
        for load in periods[1:]:
            before = owner.copy()
            shares.append(shared(owner, load))
            n = scaled(n, float(load.sum()))
            rehome(owner, load, n)
            balance(owner, load, n)
            moved.append(float(load[owner != before].sum() / max(load.sum(), 1.0)))
        widest = max(row.size for row in shares)
        padded = np.stack([np.pad(row, (0, widest - row.size)) for row in shares])
        return Life(moved=np.array(moved), shares=padded)


def shared(owner: IntArray, load: FloatArray) -> FloatArray:
    """The part of the load on each instance, (n_instances,)."""
    return np.bincount(owner, load) / max(float(load.sum()), 1.0)


def needed(load_rps: float) -> int:
    """Instances that a load is given when they are counted anew."""
    return min(PARTITIONS, max(1, math.ceil(load_rps / (INSTANCE_RPS * AIM))))


def scaled(n: int, load_rps: float) -> int:
    """Instances after a look at the load."""
    use = load_rps / (n * INSTANCE_RPS)
    return needed(load_rps) if use > MOST or (use < LEAST and n > 1) else n


def rehome(owner: IntArray, load: FloatArray, n: int) -> None:
    """Partitions of instances that are gone go to the least loaded ones, largest first."""
    use = np.bincount(owner[owner < n], load[owner < n], n)
    homeless = np.flatnonzero(owner >= n)
    for partition in homeless[np.argsort(-load[homeless], kind="stable")]:
        owner[partition] = int(use.argmin())
        use[owner[partition]] += load[partition]


def balance(owner: IntArray, load: FloatArray, n: int) -> None:
    """Flux: the largest partition that fits, from the most to the least loaded, until none helps.

    An instance that one partition alone overloads is left alone, and the next one relieved.
    """
    use = np.bincount(owner, load, n)
    for _ in range(PARTITIONS):
        cold = int(use.argmin())
        fits = np.flatnonzero((use[owner] > TOLERATED * use.mean()) & (load <= (use[owner] - use[cold]) / 2.0))
        fits = fits[load[fits] > 0.0]
        if fits.size == 0:
            return
        hottest = fits[use[owner[fits]] == use[owner[fits]].max()]
        moved = hottest[load[hottest].argmax()]
        use[owner[moved]] -= load[moved]
        use[cold] += load[moved]
        owner[moved] = cold
