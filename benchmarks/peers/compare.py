"""Outside solvers and ours on the same instances, in the same run: gap to the proven bound by size and deadline.

    make peers                                       # their environment, once
    python -m benchmarks.peers.compare --size paper --size 100

Peers: Meta's Rebalancer (local search, the better of two objectives), HiGHS, SCIP and CP-SAT on the full integer
program, each from today's assignment, in a child process that is killed on overrun. Building the model is not on a
peer's clock; all that we do is on ours. Every answer is judged by `instance.score`. Parts may be run one after the
other: results are collected in out/peers/results.json, and table, picture and limits are made from all of them.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from benchmarks.peers.child import PYTHON, ask
from benchmarks.peers.instance import Instance, score
from benchmarks.peers.results import Result, Trial, collect, draw, publish, table, verdict
from benchmarks.peers.sizes import SIZES, Size

from streamjob_planners import bound, registry
from streamjob_planners.columns import GroupIds
from streamjob_planners.model import Budget, LoadModel, PlanParams
from streamjob_planners.problem import compile_problem

PROGRAMS = ("highs", "scip", "cpsat")
REBALANCER = ("rebalancer/beside", "rebalancer/behind")
OURS = ("search",)
BOUND_S = 20.0
"""Time for the proven bound of each instance; the best so far is a bound as well."""


def main() -> int:
    """Run what was asked for, then show everything collected; 1 when we are behind the Rebalancer anywhere."""
    arguments = _arguments()
    if arguments.size and not PYTHON.exists():
        print(f"{PYTHON} is not there; 'make peers' makes it", file=sys.stderr)
        return 2
    for name in arguments.size or ():
        size = SIZES[name]
        for deadline_s in arguments.deadline or size.deadlines_s:
            programs = () if arguments.rebalancer_only or not size.integer_programs else PROGRAMS
            collect(compared(size, deadline_s, arguments.trials or size.trials, programs))
    print(table())
    draw()
    if arguments.publish:
        publish()
    ahead, sentence = verdict()
    print(sentence)
    return 0 if ahead else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", action="append", choices=list(SIZES), help="default: only show what was collected")
    parser.add_argument("--deadline", action="append", type=float, help="seconds; default: those of the size")
    parser.add_argument("--trials", type=int, help="instances; default: those of the size")
    parser.add_argument("--rebalancer-only", action="store_true", help="leave the integer programs out")
    parser.add_argument(
        "--publish", action="store_true", help="write mean and spread into benchmarks/limits/peers.json"
    )
    return parser.parse_args()


def compared(size: Size, deadline_s: float, trials: int, programs: tuple[str, ...]) -> list[Result]:
    """Every solver on every instance of a size."""
    found: dict[str, list[Trial]] = {}
    for number in range(trials):
        instance = size.instance(number)
        lower = proven(instance)
        for name in OURS:
            found.setdefault(name, []).append(ours(name, instance, deadline_s, lower))
        found.setdefault("rebalancer", []).append(best_of(REBALANCER, instance, deadline_s, lower))
        for name in programs:
            found.setdefault(name, []).append(theirs(name, instance, deadline_s, lower))
        for name, made in found.items():
            print(f"{instance.name:32} {deadline_s:4g} s  {name:12} {made[-1]}", flush=True)
    return [
        Result(size=size.label, deadline_s=deadline_s, solver=name, trials=tuple(made)) for name, made in found.items()
    ]


def proven(instance: Instance) -> float:
    """A proven lower bound on the load distance, not on anybody's clock."""
    problem = compile_problem(model_of(instance), params_of(instance, 1.0))
    until = time.monotonic() + BOUND_S
    return bound.bound_of(problem, lambda: time.monotonic() > until)


def theirs(name: str, instance: Instance, deadline_s: float, lower: float) -> Trial:
    """One answer of a peer; no answer is today's assignment."""
    answer = ask(name, instance, deadline_s)
    node_of = instance.node_of if answer.node_of is None else answer.node_of
    found = score(instance, node_of)
    note = answer.note or ("no answer" if answer.node_of is None else "")
    return Trial(
        load_distance=found.load_distance,
        bound=lower,
        solve_s=answer.solve_s,
        build_s=answer.build_s,
        moves=found.moves,
        note=note,
    )


def best_of(names: tuple[str, ...], instance: Instance, deadline_s: float, lower: float) -> Trial:
    """The best of several ways to ask, each with the whole deadline."""
    return min((theirs(name, instance, deadline_s, lower) for name in names), key=lambda one: one.load_distance)


def ours(name: str, instance: Instance, deadline_s: float, lower: float) -> Trial:
    """One plan of ours; a note when it is not what it should be."""
    model, params, planner = model_of(instance), params_of(instance, deadline_s), registry.get(name)
    began = time.monotonic()
    plan = planner.solve(model, params, np.random.default_rng(0), time.monotonic)
    took_s = time.monotonic() - began
    found = score(instance, plan.node_of)
    return Trial(
        load_distance=found.load_distance,
        bound=max(lower, plan.lower_bound or 0.0),
        solve_s=took_s,
        build_s=0.0,
        moves=found.moves,
        note=found.trouble or "",
    )


def model_of(instance: Instance) -> LoadModel:
    """The instance as our planners see it."""
    n_groups = instance.load.size
    return LoadModel(
        node_ids=tuple(str(node) for node in range(instance.n_nodes)),
        capacity=np.ones(instance.n_nodes),
        marked=np.zeros(instance.n_nodes, dtype=np.bool_),
        group_ids=GroupIds(operator=np.zeros(n_groups, dtype=np.int64), partition=np.arange(n_groups)),
        node_of=instance.node_of,
        load=instance.load,
        migration_cost_s=np.ones(n_groups),
        state_bytes=np.ones(n_groups),
        pinned=np.zeros(n_groups, dtype=np.bool_),
    )


def params_of(instance: Instance, deadline_s: float) -> PlanParams:
    """No tolerance and no price: the least distance is what is asked for."""
    return PlanParams(budget=Budget(max_migrations=instance.max_moves), tolerance=0.0, deadline_s=deadline_s)


if __name__ == "__main__":
    raise SystemExit(main())
