"""What a placement costs by the objective that holds for its model: to compare placements on the way to a plan."""

from __future__ import annotations

from streamjob_planners import drain, measures
from streamjob_planners.model import IntArray, Objective
from streamjob_planners.problem import Problem

Cost = tuple[float, ...]
"""To be compared from left to right; lower is better."""


def cost(problem: Problem, node_of: IntArray) -> Cost:
    """Load distance with marked nodes counted (`drain.stretch`), or seconds of a batch and of its levels.

    `node_of`: (n_groups,). Rounded to a billionth, so that two ways of adding up the same floats do not differ.
    """
    if problem.params.objective_of(problem.model) is Objective.LOAD_DISTANCE:
        return (round(drain.stretch(problem, node_of), 9),)
    batch_s, level_rms_s = measures.effect(problem.model, node_of).seconds
    return (round(batch_s, 9), round(level_rms_s, 9))
