"""Choosing components (section 5.2): the weighted set cover as printed, its greedy routine, and the exact partition.

Equation (3) calls (|S| - 1) l a constant. |S| there is the number of edges, but the sum that it stands for has one l
for each chosen set: a cover by more sets pays more, and the printed weights psi + l - phi favour few large components
over cheap ones. And a cover need not be a partition: dropping the operators that are covered twice may raise the cost.
So there is the printed form, and beside it the partition with weights psi - phi, whose sum is equation (1) less l.
"""

from __future__ import annotations

from collections.abc import Sequence

from ortools.sat.python import cp_model

from streamjob_planners.components.graph import Members, OperatorGraph
from streamjob_planners.components.program import solved, whole_numbers


def chosen_exactly(
    n_operators: int,
    candidates: Sequence[Members],
    weights: Sequence[float],
    hint: Sequence[Members],
    *,
    disjoint: bool,
    effort: float,
    seed: int = 0,
) -> tuple[list[Members], bool]:
    """Candidates of the least weight that hold each operator once (`disjoint`) or at least once, and whether proven.

    `hint` is a right choice to begin with, all of it candidates: the answer where the effort is too small for another.
    `effort` is CP-SAT's deterministic time, about seconds.
    """
    model = cp_model.CpModel()
    picked = [model.new_bool_var(str(number)) for number in range(len(candidates))]
    holding: list[list[cp_model.IntVar]] = [[] for _ in range(n_operators)]
    for members, variable in zip(candidates, picked, strict=True):
        for one in members:
            holding[one].append(variable)
    for row in holding:
        if disjoint:
            model.add_exactly_one(row)
        else:
            model.add_bool_or(row)
    begin = set(hint)
    for members, variable in zip(candidates, picked, strict=True):
        model.add_hint(variable, members in begin)
    scaled, _ = whole_numbers(weights)
    model.minimize(sum(weight * variable for weight, variable in zip(scaled, picked, strict=True)))
    solver = solved(model, effort, seed)
    if solver is None:
        return list(hint), False
    proven = solver.best_objective_bound >= solver.objective_value - 0.5
    return [one for one, variable in zip(candidates, picked, strict=True) if solver.boolean_value(variable)], proven


def chosen_greedily(n_operators: int, candidates: Sequence[Members], weights: Sequence[float]) -> list[Members]:
    """The greedy routine of Cormen et al., chapter 35: always the least weight for each operator not yet covered.

    Weights are the printed ones, 0 or more.
    """
    left: set[int] = set(range(n_operators))
    open_ones = list(zip(candidates, weights, strict=True))
    chosen: list[Members] = []
    while left:
        best, _ = min(open_ones, key=lambda one: one[1] / len(one[0] & left))
        chosen.append(best)
        left -= best
        open_ones = [one for one in open_ones if one[0] & left]
    return chosen


def without_redundant(graph: OperatorGraph, cover: Sequence[Members]) -> list[Members]:
    """A partition from a cover: an operator stays where it exchanges most, in the first of equals.

    What that cuts in two is two components; a set that loses all its operators is gone.
    """
    stays: dict[int, int] = {}
    for one in range(graph.n_operators):
        places = [place for place, members in enumerate(cover) if one in members]
        stays[one] = max(places, key=lambda place: (graph.between(one, cover[place]), -place))
    kept = [frozenset(one for one in members if stays[one] == place) for place, members in enumerate(cover)]
    return sorted((part for members in kept for part in graph.parts(members)), key=min)
