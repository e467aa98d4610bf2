"""The model as solvers use it: what may move where, and one budget of three prices (seconds, moves, bytes)."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import measures
from streamjob_planners.arrays import sums
from streamjob_planners.model import BoolArray, Budget, FloatArray, IntArray, LoadModel, PlanParams

ROUNDING = 1e-9
"""Relative slack of a budget or limit: sums of floats are not exact."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A compiled model.

    Attributes:
        mean: target utilisation of the unmarked nodes, percent points.
        open_nodes: unmarked nodes, the only ones that may receive, (n_nodes,).
        movable: groups that may leave their node and are affordable on their own, (n_groups,).
        prices: what moving a group takes from each allowance: seconds, one move, bytes; (n_groups, 3).
        allowances: limits on the sums of prices, inf where there is none, (3,).
        uses: use of each further resource, (n_resources, n_groups).
        limits: what a node may hold of it after receiving: its limit, or today's use if that is more;
            (n_resources, n_nodes).
    """

    model: LoadModel
    params: PlanParams
    mean: float
    open_nodes: BoolArray
    movable: BoolArray
    prices: FloatArray
    allowances: FloatArray
    uses: FloatArray
    limits: FloatArray

    def spent(self, node_of: IntArray) -> FloatArray:
        """What a placement takes from each allowance, (3,)."""
        total: FloatArray = self.prices[node_of != self.model.node_of].sum(axis=0)
        return total

    def parts(self) -> FloatArray:
        """What each group takes of the allowance that is hurt most by it, as a part of that, (n_groups,)."""
        parts = np.zeros(self.model.n_groups)
        for column in np.flatnonzero(np.isfinite(self.allowances) & (self.allowances > 0)):
            np.maximum(parts, self.prices[:, column] / self.allowances[column], out=parts)
        return parts

    def affordable(self, node_of: IntArray) -> bool:
        """Whether a placement keeps the budget."""
        return bool((self.spent(node_of) <= self.allowances).all())


def compile_problem(model: LoadModel, params: PlanParams) -> Problem:
    """The solvers' view of a model. Raises ValueError for a budget or deadline below 0."""
    check_params(params)
    allowances = _allowances(params.budget)
    prices = np.empty((model.n_groups, allowances.size))
    prices[:, 0], prices[:, 1], prices[:, 2] = model.migration_cost_s, 1.0, model.state_bytes
    movable = ~model.pinned
    for column in np.flatnonzero(np.isfinite(allowances)):
        movable &= prices[:, column] <= allowances[column]
    open_nodes = ~model.marked
    uses, limits = resources_of(model)
    return Problem(
        model=model,
        params=params,
        mean=measures.mean_utilisation(model),
        open_nodes=open_nodes,
        movable=movable,
        prices=prices,
        allowances=allowances,
        uses=uses,
        limits=limits,
    )


def check_params(params: PlanParams) -> None:
    """Raises ValueError, naming the field, for a parameter that no planner could obey."""
    fields = {
        "budget.max_cost_s": params.budget.max_cost_s,
        "budget.max_migrations": params.budget.max_migrations,
        "budget.max_state_bytes": params.budget.max_state_bytes,
        "payback_batches": params.payback_batches,
        "least_gain_ratio": params.least_gain_ratio,
        "max_load_distance": params.max_load_distance,
        "tolerance": params.tolerance,
        "price_per_move": params.price_per_move,
        "deadline_s": params.deadline_s,
        "max_iterations": params.max_iterations,
    }
    for name, value in fields.items():
        if value is not None and not value >= 0:
            raise ValueError(f"{name}: {value} given, a number of 0 or more is needed")


def _allowances(budget: Budget) -> FloatArray:
    limits = (budget.max_cost_s, budget.max_migrations, budget.max_state_bytes)
    return np.array([np.inf if limit is None else limit * (1 + ROUNDING) for limit in limits])


def resources_of(model: LoadModel) -> tuple[FloatArray, FloatArray]:
    """Uses of further resources, (n_resources, n_groups), and limits, (n_resources, n_nodes): see Problem."""
    count = len(model.resources)
    uses = np.array([one.use for one in model.resources], dtype=np.float64).reshape(count, model.n_groups)
    limits = np.array([one.limit for one in model.resources], dtype=np.float64).reshape(count, model.n_nodes)
    return uses, np.maximum(limits, held_by(model.node_of, uses, model.n_nodes)) * (1 + ROUNDING)


def held_by(node_of: IntArray, uses: FloatArray, n_nodes: int) -> FloatArray:
    """What nodes hold of further resources at a placement, (n_resources, n_nodes)."""
    return np.array([sums(node_of, use, n_nodes) for use in uses], dtype=np.float64).reshape(len(uses), n_nodes)
