"""What memory keeps from being made, for a person: the executor, the key group, and what each of them has or needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from streamjob_operator.spec import Balancing
from streamjob_operator.steps.solve import Solver
from streamjob_operator.steps.worth import worth
from streamjob_operator.steps.worth_time import AT_EASE, Standing
from streamjob_planners.advice.sentences import amount
from streamjob_planners.called import called
from streamjob_planners.model import FloatArray, LoadModel, Plan, Resource

CURE = "Executors with more memory have room for it, and so may a larger number of them."


def kept_back(
    model: LoadModel, plan: Plan, solver: Solver, balancing: Balancing, standing: Standing = AT_EASE
) -> str | None:
    """Why the plan is not better, where only memory keeps a plan from being worth it; else None.

    Where some key group lacks room somewhere, the planner is asked once more, without limits. May raise Hold.
    """
    binds = any(map(_binds, [model] * len(model.resources), model.resources))
    if not binds or worth(model, plan, balancing, standing).act:
        return None
    free = solver.solve(dataclasses.replace(model, resources=()))
    judged, short = worth(model, free, balancing, standing), next(_shortages(model, free), None)
    return f"Moves are kept back by memory: {short} {CURE}" if judged.act and short is not None else None


def _room(model: LoadModel, resource: Resource) -> FloatArray:
    """What each node has left, 0 or more, (n_nodes,)."""
    held = np.bincount(model.node_of, resource.use, model.n_nodes)
    return np.maximum(0.0, resource.limit - held)


def _binds(model: LoadModel, resource: Resource) -> bool:
    """Whether a key group lacks room on some node that is not its own."""
    largest = float(resource.use.max(initial=0.0))
    return bool((_room(model, resource)[~model.marked] < largest).any())


def _shortages(model: LoadModel, free: Plan) -> Iterator[str]:
    """A sentence for each move whose target has no room for it today, those of the largest key groups first."""
    for resource in model.resources:
        room = _room(model, resource)
        for move in sorted(free.moves, key=lambda one: -float(resource.use[one.group])):
            needed, left = float(resource.use[move.group]), float(room[move.target])
            if needed > left:
                yield (
                    f"executor {model.node_ids[move.target]} has room for {amount(left)} of state, "
                    f"{called(model, move.group)} needs {amount(needed)}."
                )
