"""What memory keeps from being made, for a person: the executor, the key group, and what each of them has or needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from streamjob_operator.spec import Balancing
from streamjob_operator.steps.solve import Solver
from streamjob_operator.steps.worth import worth
from streamjob_operator.steps.worth_time import AT_EASE, Standing
from streamjob_operator.values import Hold
from streamjob_planners.advice.sentences import amount
from streamjob_planners.called import called
from streamjob_planners.model import FloatArray, LoadModel, Plan, Resource
from streamjob_planners.plans import make_plan

CURE = "Executors with more memory have room for it, and so may a larger number of them."


def kept_back(
    model: LoadModel, plan: Plan, solver: Solver, balancing: Balancing, standing: Standing = AT_EASE
) -> str | None:
    """What is not done, where memory alone keeps it from being worth it; else None.

    Where some key group lacks room somewhere, the planner is asked once more, without limits. What it would do beyond a
    plan that is made is judged as if that were today's placement. May raise Hold where no plan is made: of one that is,
    nothing is told then, and neither while rows wait, as they would wait for the answer.
    """
    if not model.resources:
        return None
    if not worth(model, plan, balancing, standing).act:
        short = _short(model, model, "", solver, balancing, standing)
        return None if short is None else f"Moves are kept back by memory: {short} {CURE}"
    if standing.behind:
        return None
    made = dataclasses.replace(model, node_of=plan.node_of)
    try:
        short = _short(model, made, " then", solver, balancing, standing)
    except Hold:
        return None
    return None if short is None else f"More is kept back by memory: {short} {CURE}"


def _short(
    today: LoadModel, made: LoadModel, when: str, solver: Solver, balancing: Balancing, standing: Standing
) -> str | None:
    """What the largest key group lacks that has no room in `made` where the planner would put it without limits, if
    that is worth it; `made` is `today` but for what a plan moves."""
    if not any(_binds(made, resource) for resource in made.resources):
        return None
    free = solver.solve(dataclasses.replace(today, resources=()))
    unlimited = dataclasses.replace(made, resources=())
    rest = make_plan(unlimited, free.node_of, planner=free.planner, elapsed_s=free.elapsed_s)
    return next(_shortages(made, rest, when), None) if worth(unlimited, rest, balancing, standing).act else None


def _room(model: LoadModel, resource: Resource) -> FloatArray:
    """What each node has left, 0 or more, (n_nodes,)."""
    held = np.bincount(model.node_of, resource.use, model.n_nodes)
    return np.maximum(0.0, resource.limit - held)


def _binds(model: LoadModel, resource: Resource) -> bool:
    """Whether a key group lacks room on some node that is not its own."""
    largest = float(resource.use.max(initial=0.0))
    return bool((_room(model, resource)[~model.marked] < largest).any())


def _shortages(model: LoadModel, free: Plan, when: str) -> Iterator[str]:
    """A sentence for each move whose target has no room for it, those of the largest key groups first."""
    for resource in model.resources:
        room = _room(model, resource)
        for move in sorted(free.moves, key=lambda one: -float(resource.use[one.group])):
            needed, left = float(resource.use[move.group]), float(room[move.target])
            if needed > left:
                yield (
                    f"executor {model.node_ids[move.target]} has room for {amount(left)} of state{when}, "
                    f"{called(model, move.group)} needs {amount(needed)}."
                )
