"""Taking back the moves that do not pay."""

from __future__ import annotations

import numpy as np

from streamjob_planners import drain
from streamjob_planners.bookkeeping import Bookkeeping
from streamjob_planners.engine import Limits
from streamjob_planners.model import IntArray
from streamjob_planners.problem import Problem


def thin_out(problem: Problem, node_of: IntArray, limits: Limits) -> IntArray:
    """`node_of` without the moves whose gain is below the price of a move, or nothing at all; drains are kept.

    Lightest groups first: they are the likeliest to be moved for nothing.
    """
    model, params = problem.model, problem.params
    books = Bookkeeping(problem, node_of)
    worth = max(drain.stretch(problem, books.node_of), params.tolerance)
    moved = np.flatnonzero((node_of != model.node_of) & ~model.marked[model.node_of])
    for group in moved[np.argsort(model.load[moved], kind="stable")].tolist():
        if limits.over():
            break
        target, home = int(books.node_of[group]), int(model.node_of[group])
        if not books.has_room(group, home):
            continue
        books.move(group, home)
        without = max(books.stretch(), params.tolerance)
        if without > worth + params.price_per_move + 1e-9:
            books.move(group, target)
        else:
            worth = without
    return books.node_of
