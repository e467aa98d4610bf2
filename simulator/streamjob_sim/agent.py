"""What the agent in the driver does, as simply as can be: moves are made at batch boundaries, some are not obeyed."""

from __future__ import annotations

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_sim.world import Agent as AgentSpec


class Agent:
    """Goals and where key groups are registered. `registered` and `seen`: owner of each group, (n_groups,).

    `seen` is the executor of the newest finished task, `registered` where the next task goes.
    """

    def __init__(self, spec: AgentSpec, owner: IntArray, rng: np.random.Generator) -> None:
        self._spec = spec
        self._rng = rng
        self.registered = owner.copy()
        self.seen = owner.copy()
        self.goals: dict[int, int] = {}
        self.generation: int | None = None
        self.places: dict[int, int] = {}
        self.arrived: list[int] = []
        self._known: frozenset[int] = frozenset()
        self._cost_s: dict[int, float] = {}
        self._pace_s: float | None = None

    def adopt(self, generation: int, goals: dict[int, int], cost_s: dict[int, float], pace_s: float | None) -> None:
        """Take over an assignment: its goals, in their order, replace those of the last one.

        `cost_s`: what each move adds to its batch; `pace_s`: what moves may add to one batch, None for no limit.
        """
        self.generation = generation
        self._cost_s, self._pace_s = cost_s, pace_s
        self.goals = {
            group: node for group, node in goals.items() if node != self.seen[group] or node != self.registered[group]
        }

    def expect(self, places: dict[int, int], known: frozenset[int]) -> None:
        """Key groups that go to executors that are to come, in their order: group -> place from 1.

        Executors that are not `known` take the places in the order of their coming.
        """
        self.places, self.arrived, self._known = places, [], known

    def _welcome(self, open_executors: IntArray) -> None:
        fresh = [one for one in open_executors.tolist() if one not in self._known and one not in self.arrived]
        self.arrived += fresh[: max(self.places.values(), default=0)]
        come = {group: place for group, place in self.places.items() if place <= len(self.arrived)}
        self.goals |= {group: self.arrived[place - 1] for group, place in come.items()}
        self.places = {group: place for group, place in self.places.items() if group not in come}

    def release(self, state_bytes: FloatArray, open_executors: IntArray) -> None:
        """At a batch boundary: register as many goals as the pace allows; goals whose target is gone are dropped."""
        self._welcome(open_executors)
        allowed = set(open_executors.tolist())
        self.goals = {group: node for group, node in self.goals.items() if node in allowed}
        released, moved_bytes, cost_s = 0, 0.0, 0.0
        for group, node in self.goals.items():
            if self.registered[group] == node:
                continue
            moved_bytes += float(state_bytes[group])
            cost_s += self._cost_s.get(group, 0.0)
            if released and self._over(released, moved_bytes, cost_s):
                return
            released += 1
            if self._rng.random() >= self._spec.disobey:
                self.registered[group] = node

    def confirm(self) -> None:
        """At a batch's end: every task has run where it was registered."""
        self.seen = self.registered.copy()
        self.goals = {group: node for group, node in self.goals.items() if self.seen[group] != node}

    def rescue(self, lost: BoolArray, open_executors: IntArray) -> None:
        """Key groups of a lost executor go to the others, each to the one with the fewest."""
        counts = np.bincount(self.registered, minlength=int(open_executors.max()) + 1)
        for group in np.flatnonzero(lost):
            node = int(open_executors[counts[open_executors].argmin()])
            self.registered[group] = node
            counts[node] += 1

    def holds(self, executor: int) -> int:
        """Key groups that are or shall be on an executor."""
        return int(np.count_nonzero((self.registered == executor) | (self.seen == executor)))

    def _over(self, released: int, moved_bytes: float, cost_s: float) -> bool:
        limits = (self._spec.moves_per_batch, released + 1), (self._spec.bytes_per_batch, moved_bytes)
        return any(most is not None and used > most for most, used in (*limits, (self._pace_s, cost_s)))
