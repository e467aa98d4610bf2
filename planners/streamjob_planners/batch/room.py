"""Room for moves that are made before their turn: what they need must not be what earlier ones wait for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streamjob_planners.arrays import FloatArray
from streamjob_planners.model import LoadModel, Move
from streamjob_planners.problem import held_by, resources_of


class Room:
    """Further resources of a model's nodes, from today's placement on."""

    def __init__(self, model: LoadModel) -> None:
        self._uses, self._limits = resources_of(model)
        self._held: FloatArray = held_by(model.node_of, self._uses, model.n_nodes)
        self._coming: FloatArray = np.zeros(self._held.shape)

    def begin(self, made: Sequence[Move], waiting: Sequence[Move]) -> None:
        """A new wave, in which so many are made already, while those wait for the next one."""
        self._coming[:] = 0.0
        for one in made:
            self.add(one, made=True)
        for one in waiting:
            self.add(one, made=False)

    def add(self, move: Move, *, made: bool) -> None:
        """One more move of the wave, or one that waits."""
        use = self._uses[:, move.group]
        if made:
            self._held[:, move.source] -= use
            self._held[:, move.target] += use
        else:
            self._coming[:, move.target] += use

    def beside(self, move: Move) -> bool:
        """Whether its target has room for it and for all that waits to come there."""
        needed = self._held[:, move.target] + self._coming[:, move.target] + self._uses[:, move.group]
        return bool((needed <= self._limits[:, move.target]).all())
