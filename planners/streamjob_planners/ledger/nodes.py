"""What every node carries at a placement that changes: loads, further resources, and what is left of the budget.

A ledger answers what a move would change, and makes it. Key groups here are what a model calls so: units of several
(`units.contracted`) are just as well.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners import measures
from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_planners.problem import Problem, held_by


class Ledger:
    """Starts at today's placement; `move` keeps the budget, `fitting` and `takes` say who may go where.

    Attributes:
        node_of: where the groups are, (n_groups,).
        load: percent points of each group; collocation may lighten some, (n_groups,).
        loads: sum of them on each node, (n_nodes,).
        spent: what the placement takes from each allowance of the problem, (n_prices,).
    """

    def __init__(self, problem: Problem, node_of: IntArray | None = None) -> None:
        """`node_of`: placement to start from, (n_groups,); today's when None."""
        model = problem.model
        self.problem = problem
        self.node_of: IntArray = np.array(model.node_of if node_of is None else node_of, dtype=np.int64)
        self.load: FloatArray = np.array(model.load, dtype=np.float64)
        self.loads: FloatArray = measures.node_loads(model, self.node_of)
        self.spent: FloatArray = problem.spent(self.node_of)
        self._held: FloatArray = held_by(self.node_of, problem.uses, model.n_nodes)
        self._limited = np.flatnonzero(np.isfinite(problem.allowances)).tolist()

    def utilisation(self) -> FloatArray:
        """Load over capacity, (n_nodes,)."""
        used: FloatArray = self.loads / self.problem.model.capacity
        return used

    def after_leaving(self, group: int) -> float:
        """Utilisation of the group's node without it; inf on a marked node, which may always give."""
        node, model = self.node_of[group], self.problem.model
        if model.marked[node]:
            return np.inf
        return float((self.loads[node] - self.load[group]) / model.capacity[node])

    def after_joining(self, group: int, node: int) -> float:
        """Utilisation of a node with the group."""
        return float((self.loads[node] + self.load[group]) / self.problem.model.capacity[node])

    def heaviest_first(self, groups: IntArray) -> list[int]:
        """The movable ones of these groups, heaviest first."""
        movable = groups[self.problem.movable[groups]]
        return [int(k) for k in movable[np.argsort(-self.load[movable], kind="stable")]]

    def affordable(self, group: int, target: int) -> bool:
        """Whether the budget allows this group on that node (going home gives its price back)."""
        change = self._change(group, target)
        return bool((self.spent + change * self.problem.prices[group] <= self.problem.allowances).all())

    def payable(self, groups: IntArray) -> BoolArray:
        """True where the budget still pays for moving a group that is at home, (n,)."""
        able = np.ones(groups.size, dtype=np.bool_)
        for one in self._limited:
            able &= self.spent[one] + self.problem.prices[groups, one] <= self.problem.allowances[one]
        return able

    def fitting(self, group: int) -> IntArray:
        """Nodes other than its own that may receive the group: open, resources free; indices."""
        able = self.problem.open_nodes.copy()
        able[self.node_of[group]] = False
        if len(self._held):
            able &= (self._held + self.problem.uses[:, group, None] <= self.problem.limits).all(axis=0)
        return np.flatnonzero(able)

    def open_to(self) -> BoolArray:
        """True where a node may receive a group that is elsewhere: open, resources free; (n_groups, n_nodes)."""
        problem = self.problem
        able = np.tile(problem.open_nodes, (self.load.size, 1))
        for held, use, limit in zip(self._held, problem.uses, problem.limits, strict=True):
            able &= held + use[:, None] <= limit
        return able

    def fits(self, group: int, node: int) -> bool:
        """Whether that node, other than the group's own, may receive it."""
        return bool(node != self.node_of[group] and self.takes(np.array([group]), np.array([node]))[0])

    def takes(self, groups: IntArray, nodes: IntArray) -> BoolArray:
        """True where the node may take the group now, both (n,): open, resources free."""
        problem = self.problem
        able = problem.open_nodes[nodes]
        if len(self._held):
            able = able & (self._held[:, nodes] + problem.uses[:, groups] <= problem.limits[:, nodes]).all(axis=0)
        return able

    def least_used_target(self, group: int, below: float = np.inf) -> int | None:
        """The node that would be least used with the group, if it stays at most `below`; None if there is none."""
        nodes = self.fitting(group)
        if nodes.size == 0:
            return None
        used = (self.loads[nodes] + self.load[group]) / self.problem.model.capacity[nodes]
        best = int(used.argmin())
        return int(nodes[best]) if used[best] <= below else None

    def move(self, group: int, target: int | None) -> bool:
        """Make the move if there is a target and the budget allows it; says whether it was made."""
        if target is None or not self.affordable(group, target):
            return False
        source = int(self.node_of[group])
        self.spent += self._change(group, target) * self.problem.prices[group]
        self.loads[source] -= self.load[group]
        self.loads[target] += self.load[group]
        if len(self._held):
            self._held[:, source] -= self.problem.uses[:, group]
            self._held[:, target] += self.problem.uses[:, group]
        self.node_of[group] = target
        return True

    def lighten(self, groups: IntArray, points: FloatArray) -> None:
        """Groups, each named once, lose so many percent points of load where they are, both (n,)."""
        self.load[groups] -= points
        np.subtract.at(self.loads, self.node_of[groups], points)

    def _change(self, group: int, target: int) -> int:
        """Moves that being on the target takes beyond those that were made: 1, 0, or -1 for going home."""
        home = self.problem.model.node_of[group]
        return int(target != home) - int(self.node_of[group] != home)
