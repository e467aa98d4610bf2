"""One balancing instance as plain arrays: all that an outside solver is told, and a judge that shares no code with any.

Unit capacities, nothing marked, a limit on the number of moves: the setting of section 5.1 of the ALBIC paper.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """`node_of`: node of each key group today; `load`: percent points, (n_groups,) each."""

    name: str
    n_nodes: int
    max_moves: int
    node_of: npt.NDArray[np.int64]
    load: npt.NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Load of a node if it were spread perfectly."""
        return float(self.load.sum() / self.n_nodes)

    @property
    def cells(self) -> int:
        """Binary variables of the full model."""
        return self.n_nodes * self.load.size

    def save(self, path: Path) -> None:
        """For a child process."""
        np.savez(path, name=self.name, shape=[self.n_nodes, self.max_moves], node_of=self.node_of, load=self.load)


def load_instance(path: Path) -> Instance:
    """What :meth:`Instance.save` wrote."""
    with np.load(path) as file:
        n_nodes, max_moves = (int(value) for value in file["shape"])
        return Instance(
            name=str(file["name"]), n_nodes=n_nodes, max_moves=max_moves, node_of=file["node_of"], load=file["load"]
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What an assignment is worth; `trouble` says why it may not be counted."""

    load_distance: float
    moves: int
    trouble: str | None


def score(instance: Instance, node_of: npt.NDArray[np.int64]) -> Score:
    """Largest difference of a node's load to the mean, moves made, and whether the assignment is one."""
    if node_of.shape != instance.node_of.shape or node_of.min() < 0 or node_of.max() >= instance.n_nodes:
        return Score(load_distance=float("inf"), moves=0, trouble="not an assignment of every key group to a node")
    loads = np.bincount(node_of, weights=instance.load, minlength=instance.n_nodes)
    moves = int(np.count_nonzero(node_of != instance.node_of))
    trouble = None if moves <= instance.max_moves else f"{moves} moves, {instance.max_moves} allowed"
    return Score(load_distance=float(np.abs(loads - instance.mean).max()), moves=moves, trouble=trouble)


class Incumbent:
    """The best assignment so far, on disk at once: a child that is killed has still answered."""

    def __init__(self, instance: Instance, path: Path) -> None:
        self._instance = instance
        self._path = path
        self._best = float("inf")

    def offer(self, node_of: npt.NDArray[np.int64]) -> None:
        """Keep it if it is valid and better than the one kept."""
        found = score(self._instance, node_of)
        if found.trouble is None and found.load_distance < self._best:
            self._best = found.load_distance
            temporary = self._path.with_suffix(".tmp.npy")
            np.save(temporary, node_of.astype(np.int64))
            os.replace(temporary, self._path)
