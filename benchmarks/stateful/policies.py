"""The four systems of the stateful load balancing paper, window by window: what each holds, and what state it moves.

A decision uses the windows that have ended and holds from the next one. State is a tenth of the rate (figure 1), so the
moved part of the state is the moved part of the last window's tuples.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol

import numpy as np

from streamjob_planners.baselines.potc import draw_choices
from streamjob_planners.baselines.uhlb import draw_hash
from streamjob_planners.clb.planner import relabelled
from streamjob_planners.clb.split import split_by_covariance
from streamjob_planners.elb.eager import LoadRange, eager
from streamjob_planners.model import FloatArray, IntArray

RANGE = 0.2
"""v and u are this part below and above the mean: parallelism stays as it is where the paper fixes it."""
CLB_WINDOWS = 30
PAPER_THETA = 0.45
"""A correlation; the paper states no value, and this one gives the levels of its figure 2 (theta 0 does not)."""
UHLB_TRIGGER = 1.5
"""A new hash is drawn when an instance had this many times the mean."""
CHUNKS = 50


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One window: load of each instance, and the part of the state that was moved before it."""

    load: FloatArray
    moved_ratio: float


class Policy(Protocol):
    """One of the four."""

    def window(self, load: FloatArray) -> Window:
        """What a window with these tuples of each substream, (n_groups,), does to the instances."""

    def grow(self, n_nodes: int) -> float:
        """More instances from now on; the part of the state that moves for it."""


class Mapped:
    """A policy that gives each substream one instance; `decide` looks at all windows so far."""

    def __init__(self, n_nodes: int, rng: np.random.Generator) -> None:
        self.n_nodes, self.rng = n_nodes, rng
        self.past: list[FloatArray] = []
        self.node_of: IntArray = draw_hash(100, n_nodes, rng)

    def window(self, load: FloatArray) -> Window:
        """First what was decided, then the window."""
        moved = self._adopt(self.decide()) if self.past else 0.0
        self.past.append(load)
        return Window(load=np.bincount(self.node_of, load, self.n_nodes).astype(np.float64), moved_ratio=moved)

    def grow(self, n_nodes: int) -> float:
        """Decide once more, with the new instances."""
        self.n_nodes = n_nodes
        return self._adopt(self.regrown()) if self.past else 0.0

    def regrown(self) -> IntArray:
        """What a scale-out decides."""
        return self.decide()

    def decide(self) -> IntArray:
        """The instance of each substream from now on."""
        return self.node_of

    def _adopt(self, node_of: IntArray) -> float:
        moved, self.node_of = node_of != self.node_of, node_of
        last = self.past[-1]
        return float(last[moved].sum() / last.sum())


class Elb(Mapped):
    """Every window."""

    def decide(self) -> IntArray:
        """Section 3, with u and v around the mean."""
        load = self.past[-1]
        mean = float(load.sum()) / self.n_nodes
        wanted = LoadRange(low=(1 - RANGE) * mean, high=(1 + RANGE) * mean)
        return eager(load, self.node_of, self.n_nodes, wanted).node_of


class Clb(Mapped):
    """Every m windows, by the covariances of the last m.

    Windows are compared by the shares of their tuples: under a growing rate all substreams would vary together.
    """

    def __init__(self, n_nodes: int, rng: np.random.Generator, *, theta: float = 0.0, every: int = CLB_WINDOWS) -> None:
        super().__init__(n_nodes, rng)
        self._theta, self._every = theta, every

    def decide(self) -> IntArray:
        """Section 4; the sets keep the instances that hold most of them."""
        return self.node_of if len(self.past) % self._every else self.regrown()

    def regrown(self) -> IntArray:
        """One run over the last windows; nothing changes before there are two."""
        if len(self.past) < 2:
            return self.node_of
        last = np.stack(self.past[-self._every :])
        series = last / last.sum(axis=1, keepdims=True)
        set_of = split_by_covariance(series, self.n_nodes, self._theta)
        return relabelled(set_of, self.node_of, np.arange(self.n_nodes), self.past[-1])[set_of]


class Uhlb(Mapped):
    """A new 2-universal hash whenever an instance had too much."""

    def decide(self) -> IntArray:
        """A trigger is our choice: a fresh hash each window would move nine tenths of the state."""
        held = np.bincount(self.node_of, self.past[-1], self.n_nodes)
        return self.regrown() if held.max() > UHLB_TRIGGER * held.mean() else self.node_of

    def regrown(self) -> IntArray:
        """Another member of the family."""
        return draw_hash(100, self.n_nodes, self.rng)


class Pkg:
    """Two candidates for each key, tuple by tuple the one that was sent less; a key's state is at its main owner."""

    def __init__(self, n_nodes: int, rng: np.random.Generator) -> None:
        self._rng = rng
        self._owner: IntArray | None = None
        self.grow(n_nodes)

    def grow(self, n_nodes: int) -> float:
        """New candidates; the main owner changes as soon as tuples arrive, and is counted then."""
        self.n_nodes = n_nodes
        self._choices = draw_choices(100, n_nodes, self._rng) if n_nodes > 1 else None
        return 0.0

    def window(self, load: FloatArray) -> Window:
        """Tuples in random order, in chunks of a fiftieth of a key's."""
        if self._choices is None:
            return Window(load=np.array([load.sum()]), moved_ratio=0.0)
        order = self._rng.permutation(np.repeat(np.arange(load.size), CHUNKS)).tolist()
        first, second = self._choices.first.tolist(), self._choices.second.tolist()
        amount, sent = (load / CHUNKS).tolist(), [0.0] * self.n_nodes
        to_first = [0] * load.size
        for key in order:
            left, right = first[key], second[key]
            if sent[left] <= sent[right]:
                sent[left] += amount[key]
                to_first[key] += 1
            else:
                sent[right] += amount[key]
        owner = np.where(np.array(to_first) * 2 >= CHUNKS, self._choices.first, self._choices.second)
        moved = 0.0 if self._owner is None else float(load[owner != self._owner].sum() / load.sum())
        self._owner = owner
        return Window(load=np.array(sent), moved_ratio=moved)


def clb_as_printed(n_nodes: int, rng: np.random.Generator) -> Clb:
    """CLB with the threshold that gives the imbalance the paper prints for S1 and S2."""
    return Clb(n_nodes, rng, theta=PAPER_THETA)


POLICIES: dict[str, Callable[[int, np.random.Generator], Policy]] = {
    "ELB": Elb,
    "CLB": clb_as_printed,
    "CLB, theta 0": Clb,
    "UHLB": Uhlb,
    "PKG": Pkg,
}


def imbalance(loads: FloatArray) -> float:
    """var(L_t), tuples squared (equation 1)."""
    return float(np.var(loads))
