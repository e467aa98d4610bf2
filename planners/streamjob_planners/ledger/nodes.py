"""A placement that is being changed, with its loads, spending and resource use kept up to date."""

from __future__ import annotations

import numpy as np

from streamjob_planners import measures
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem


class Bookkeeping:
    """Starts at today's placement; every move keeps budget, pins, forbidden places and resource limits."""

    def __init__(self, problem: Problem, node_of: IntArray | None = None) -> None:
        """`node_of`: placement to start from, (n_groups,); today's when None."""
        model = problem.model
        self.problem = problem
        self.node_of: IntArray = np.array(model.node_of if node_of is None else node_of, dtype=np.int64)
        self.loads: FloatArray = measures.node_loads(model, self.node_of)
        self.spent: FloatArray = problem.spent(self.node_of)
        self._held: FloatArray = np.array(
            [np.bincount(self.node_of, use, model.n_nodes) for use in problem.uses]
        ).reshape(len(problem.uses), model.n_nodes)

    def utilisation(self) -> FloatArray:
        """Load over capacity, (n_nodes,)."""
        used: FloatArray = self.loads / self.problem.model.capacity
        return used

    def heaviest_first(self, groups: IntArray) -> list[int]:
        """The movable ones of these groups, heaviest first."""
        movable = groups[self.problem.movable[groups]]
        order = np.argsort(-self.problem.model.load[movable], kind="stable")
        return [int(k) for k in movable[order]]

    def from_most_used(self, node: int) -> list[int]:
        """Movable groups of other nodes, by the use of their node, then by load."""
        model = self.problem.model
        groups = np.flatnonzero((self.node_of != node) & self.problem.movable)
        order = np.lexsort((-model.load[groups], -self.utilisation()[self.node_of[groups]]))
        return [int(k) for k in groups[order]]

    def affordable(self, group: int, target: int) -> bool:
        """Whether the budget allows this group on that node (going home gives its price back)."""
        home = self.problem.model.node_of[group]
        change = int(target != home) - int(self.node_of[group] != home)
        return bool((self.spent + change * self.problem.prices[group] <= self.problem.allowances).all())

    def fitting(self, group: int) -> IntArray:
        """Nodes other than its own that may receive the group: open, not barred, resources free; indices."""
        allowed = self.problem.may_go(group).copy()
        allowed[self.node_of[group]] = False
        if len(self._held):
            room = self._held + self.problem.uses[:, group, None] <= self.problem.limits
            allowed &= room.all(axis=0)
        return np.flatnonzero(allowed)

    def has_room(self, group: int, node: int) -> bool:
        """Whether the node's further resources have room for the group."""
        after = self._held[:, node] + self.problem.uses[:, group]
        return bool((after <= self.problem.limits[:, node]).all())

    def stretch(self) -> float:
        """Largest distance from the mean; marked nodes count above it only."""
        apart = self.utilisation() - self.problem.mean
        return float(np.where(self.problem.model.marked, apart, np.abs(apart)).max())

    def fits(self, group: int, node: int) -> bool:
        """Whether that node may receive the group."""
        return bool((self.fitting(group) == node).any())

    def after_leaving(self, group: int) -> float:
        """Utilisation of the group's node without it; inf on a marked node, which may always give."""
        node = self.node_of[group]
        model = self.problem.model
        if model.marked[node]:
            return np.inf
        return float((self.loads[node] - model.load[group]) / model.capacity[node])

    def after_joining(self, group: int, node: int) -> float:
        """Utilisation of a node with the group."""
        model = self.problem.model
        return float((self.loads[node] + model.load[group]) / model.capacity[node])

    def least_used_target(self, group: int, below: float = np.inf) -> int | None:
        """The node that would be least used with the group, if it stays at most `below`; None if there is none."""
        model = self.problem.model
        nodes = self.fitting(group)
        if nodes.size == 0:
            return None
        used = (self.loads[nodes] + model.load[group]) / model.capacity[nodes]
        best = int(used.argmin())
        return int(nodes[best]) if used[best] <= below else None

    def move(self, group: int, target: int | None) -> bool:
        """Make the move if there is a target and the budget allows it; says whether it was made."""
        if target is None or not self.affordable(group, target):
            return False
        model, source = self.problem.model, int(self.node_of[group])
        home = model.node_of[group]
        self.spent += (int(target != home) - int(source != home)) * self.problem.prices[group]
        self.loads[source] -= model.load[group]
        self.loads[target] += model.load[group]
        self._held[:, source] -= self.problem.uses[:, group]
        self._held[:, target] += self.problem.uses[:, group]
        self.node_of[group] = target
        return True
