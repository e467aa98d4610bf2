"""The integer program for the time of a batch, for CP-SAT.

    min  sum of t_l over levels l, the time that each takes
    (1)  every group on exactly one node
    (2)  the moves keep the budget: seconds, number and bytes, each a constraint of its own
    (3)  sum of the tasks of l on i <= slots_i speed_i t_l     on every node i, marked ones included
    (4)  task_k <= speed_i t_l                                 where group k of level l is on node i
    (5)  t_l >= what no placement goes below

(3) and (4) relax the list schedule of a node of several slots, so that the least sum is a bound on every schedule.
`then_share` adds the second goal: work above each level's mean, which a plan lowers that cannot lower t_l, so that
nodes without work are filled; and what the moves cost. CP-SAT counts in integers: one unit is a microsecond. Tasks are
rounded down and nodes' powers up, which keeps the bound a bound.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from streamjob_planners.batch.floor import floor_s
from streamjob_planners.batch.predict import ends
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.milp_program import Program, add_budget, add_hint, add_limits, all_choices, flows
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem

UNITS = 1_000_000
"""Integer units per second."""
POWER_UNITS = 1_000
"""Integer units per slot of a node of speed 1."""
WEIGHT = 1_000
"""Weight of a unit of time, so that weights below one can be told in integers."""
ROOM = 1.5
"""Longest batch that is looked at, over today's: draining may take some."""
ROUNDING = 1e-9
"""Of a bound: what the solver's floats may be off by."""
GAINED = 3.0
"""Times all of today's levels: more no move gains, be it of the time of levels or of work above the mean."""
DRAIN_WEIGHT = 100
"""Seconds that a second of work off marked nodes is worth."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LevelProgram(Program):
    """With the time of each level as a variable, and per level and node what it holds and does in a second."""

    shape: BatchShape
    times: list[Any]
    work: list[list[tuple[Any, int]]]

    def bound_s(self, objective_bound: float) -> float:
        """The bound on the batch that a bound on the weighted sum of times gives, seconds. Times are whole units: each
        level may end up to one sooner."""
        today = ends(self.shape, self.problem.model.node_of)
        units = max(0.0, objective_bound / WEIGHT - self.shape.n_levels)
        return today.fixed_s + today.free_s + units / UNITS * (1 - ROUNDING)

    def relaxed_s(self, node_of: IntArray) -> float:
        """What (3) and (4) make of a placement, the sum of its levels; seconds."""
        shape, total_s = self.shape, 0.0
        for level in range(shape.n_levels):
            mine = shape.level == level
            node, task_s = node_of[mine], shape.task_s[mine]
            held_s = np.bincount(node, task_s, shape.slots.size) / (shape.slots * shape.speed)
            total_s += max(float(held_s.max()), float((task_s / shape.speed[node]).max(initial=0.0)))
        return total_s


def build(problem: Problem, shape: BatchShape, hint: IntArray) -> LevelProgram:
    """The program of the least sum of times; `hint`, (n_groups,), is looked at first."""
    model = cp_model.CpModel()
    base = Program(problem=problem, model=model, moves=all_choices(problem, model))
    most = int(np.ceil(ROOM * ends(shape, problem.model.node_of).level_s.sum() * UNITS)) + 1
    times = [_time(problem, shape, model, level, most) for level in range(shape.n_levels)]
    work = _work(base, shape)
    for time, nodes in zip(times, work, strict=True):
        for held, power in nodes:
            model.add(POWER_UNITS * held <= power * time)
    _alone(base, shape, times)
    add_budget(base)
    add_limits(base)
    add_hint(base, hint)
    model.minimize(WEIGHT * cp_model.LinearExpr.sum(times))
    return LevelProgram(problem=problem, model=model, moves=base.moves, shape=shape, times=times, work=work)


def then_share(program: LevelProgram, reached_s: float, *, draining: bool, prices: FloatArray) -> None:
    """Then little work above the mean of each level, at little price.

    `reached_s`: what the times may add up to, seconds. `draining`: work off marked nodes comes first. `prices`: what
    moving each group costs, in seconds of a batch, (n_groups,). More than what any move gains counts as that, since
    whole numbers have an end.
    """
    model, problem, shape = program.model, program.problem, program.shape
    dearest_s = GAINED * float(ends(shape, problem.model.node_of).level_s.sum())
    model.add(cp_model.LinearExpr.sum(program.times) <= int(np.ceil(reached_s * UNITS)) + shape.n_levels)
    goals = [WEIGHT * time for time in program.times]
    for level, nodes in enumerate(program.work):
        goals += _above_mean(program, level, nodes)
    for group, options in program.moves.items():
        home = problem.model.node_of[group]
        price = min(float(prices[group]), dearest_s) * UNITS + 1.0
        if draining and problem.model.marked[home]:
            price -= DRAIN_WEIGHT * UNITS * max(float(shape.task_s[group]), 1e-3)
        goals += [round(WEIGHT * price) * chosen for _, chosen in options]
    model.minimize(cp_model.LinearExpr.sum(goals))


def _time(problem: Problem, shape: BatchShape, model: Any, level: int, most: int) -> Any:
    return model.new_int_var(int(np.floor(floor_s(problem, shape, level) * UNITS)), most, f"t{level}")


def _work(program: Program, shape: BatchShape) -> list[list[tuple[Any, int]]]:
    """What each node holds of each level, and what it does in a second, both in units."""
    problem = program.problem
    power = np.ceil(shape.slots * shape.speed * POWER_UNITS).astype(np.int64)
    tasks = np.floor(shape.task_s * UNITS).astype(np.int64)
    rows = []
    for level in range(shape.n_levels):
        amount = np.where(shape.level == level, tasks, 0)
        today = np.bincount(problem.model.node_of, amount, problem.model.n_nodes).astype(np.int64)
        changes = flows(program, amount)
        rows.append(
            [
                (int(today[node]) + cp_model.LinearExpr.weighted_sum(chosen, change), int(power[node]))
                for node, (chosen, change) in enumerate(changes)
            ]
        )
    return rows


def _alone(program: Program, shape: BatchShape, times: list[Any]) -> None:
    """A level takes as long as each of its tasks where that is; what the floor says already is left out."""
    problem, model = program.problem, program.model
    home = problem.model.node_of
    for group, options in program.moves.items():
        time, task_s = times[int(shape.level[group])], float(shape.task_s[group])
        least = np.floor(task_s / shape.speed * UNITS).astype(np.int64)
        lowest = time.proto.domain[0]
        for node, chosen in options:
            if least[node] > lowest:
                model.add(time >= int(least[node]) * chosen)
        if least[home[group]] > lowest:
            model.add(time >= int(least[home[group]]) * (1 - cp_model.LinearExpr.sum([one for _, one in options])))


def _above_mean(program: LevelProgram, level: int, nodes: list[tuple[Any, int]]) -> list[Any]:
    """Work above the level's mean, weighted so that all of today's is worth what the level takes above its mean."""
    problem, shape, model = program.problem, program.shape, program.model
    mine = shape.level == level
    held = np.bincount(problem.model.node_of[mine], shape.task_s[mine], problem.model.n_nodes)
    power = shape.slots * shape.speed
    mean = held.sum() / power[problem.open_nodes].sum()
    above = np.maximum(held - mean * power, 0.0)[problem.open_nodes].sum()
    gain = float((held / power)[problem.open_nodes].max() - mean)
    if above <= 0.0 or gain <= 0.0:
        return []
    weight = max(1, round(WEIGHT * gain / above))
    goals = []
    for node in np.flatnonzero(problem.open_nodes):
        excess = model.new_int_var(0, int(held.sum() * UNITS) + 1, "")
        model.add(excess >= nodes[node][0] - int(mean * power[node] * UNITS))
        goals.append(weight * excess)
    return goals
