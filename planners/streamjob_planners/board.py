"""A board: the best placement of two threads that try closer and closer bands, each told the other as soon as it is
found.

How long a try takes is chance, a few steps or thousands. Two threads that only meet at the end are as far as the
luckier one; where each goes on from what either found, every band takes as long as the quicker of two tries.
"""

from __future__ import annotations

import threading

from streamjob_planners.model import IntArray


class Board:
    """What the threads of one meeting have found, from a placement that both begin with."""

    def __init__(self, reached: float, node_of: IntArray) -> None:
        """`reached`: the distance of the placement, percent points."""
        self._lock = threading.Lock()
        self._best = (reached, node_of)

    def best(self) -> tuple[float, IntArray]:
        """The smallest distance so far, and its placement, (n_groups,)."""
        return self._best

    def tell(self, reached: float, node_of: IntArray) -> None:
        """A thread has found this."""
        with self._lock:
            if reached < self._best[0]:
                self._best = (reached, node_of)

    def beats(self, reached: float) -> bool:
        """Whether a distance that small has been found."""
        return self._best[0] <= reached
