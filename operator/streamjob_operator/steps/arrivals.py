"""What executors that are to come will own: decided before they come, so that nobody waits for the next cycle then."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from streamjob_operator.spec import MigrationBudget
from streamjob_operator.steps.boundary import allowance_s
from streamjob_operator.values import Arrivals
from streamjob_planners import plans, what_if
from streamjob_planners.batch.waves import Wave, waves
from streamjob_planners.model import LoadModel, Move, Plan


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Coming:
    """The plan for the executors that exist and those to come: these are the last `executors` nodes of `model`."""

    model: LoadModel
    plan: Plan
    executors: int

    @property
    def first(self) -> int:
        """The node of the first one to come."""
        return self.model.n_nodes - self.executors


def prepared(coming: Coming, carried: Plan, budget: MigrationBudget) -> Arrivals | None:
    """What they own once they are here and `carried`, the moves among those that exist, is made; None for nothing.

    Moves to one executor that fit into one batch are one wave, as others may come later or never; all first waves come
    before all second ones.
    """
    model = what_if.with_owners(coming.model, carried.node_of)
    node_of = np.where(coming.plan.node_of >= coming.first, coming.plan.node_of, carried.node_of).astype(np.int64)
    plan = plans.make_plan(model, node_of, planner=carried.planner, elapsed_s=0.0)
    if not plan.moves:
        return None
    steps = sorted(_steps(model, plan, budget), key=lambda step: step[0])
    return Arrivals(
        executors=coming.executors,
        groups=tuple(move.group for _, move, _ in steps),
        places=tuple(move.target - coming.first + 1 for _, move, _ in steps),
        cost_s=tuple(cost_s for _, _, cost_s in steps),
        after=plan.after,
    )


def _steps(model: LoadModel, plan: Plan, budget: MigrationBudget) -> Iterator[tuple[tuple[int, int], Move, float]]:
    """(wave, node), a move, and what it adds to the batch as it is today; the first of a wave stands for all of it."""
    before_s, after_s = plan.before.expected_s or 0.0, plan.after.expected_s or 0.0
    gain_s = max(0.0, before_s - after_s)
    taken: dict[int, list[Move]] = defaultdict(list)  # of ten thousand to come most may take nothing
    for move in plan.moves:
        taken[move.target].append(move)
    for node, moves in sorted(taken.items()):
        spread = _spread(model, moves, allowance_s(budget, before_s) + gain_s)
        for number, wave in enumerate(spread):
            for at, move in enumerate(wave.moves):
                yield (number, node), move, max(0.0, wave.extra_s - gain_s) * (at == 0)


def _spread(model: LoadModel, moves: Sequence[Move], most_s: float) -> Sequence[Wave]:
    """Where batches cannot be predicted each move counts for itself."""
    if model.batch is None:
        return [Wave(moves=(move,), extra_s=move.cost_s, batch_s=0.0) for move in moves]
    return waves(model, moves, most_s)


def sentence(arrivals: Arrivals | None) -> str:
    """What a person is told, with a space before it; nothing where nothing is prepared."""
    if arrivals is None:
        return ""
    count = len(arrivals.groups)
    who = "The executor that is" if arrivals.executors == 1 else f"The {arrivals.executors} executors that are"
    groups = "1 key group" if count == 1 else f"{count} key groups"
    return f" {who} to come will own {groups}."
