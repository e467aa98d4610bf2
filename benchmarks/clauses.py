"""Clauses of the ALBIC paper as printed, beside ours: docs/decisions/0055-clauses.md.

Run with `python -m benchmarks.clauses`. Seeds are fixed, and steps limit every planner, so that a busy machine changes
nothing but the time it takes.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks import worlds
from benchmarks.figures.report import table
from benchmarks.rounds import Run, run_rounds
from streamjob_operator.offline.snapshot_file import read_moment
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.values import Memory
from streamjob_planners import measures, registry
from streamjob_planners.batch.learned import MoveEvidence
from streamjob_planners.milp import MilpPlanner
from streamjob_planners.milp_paper import MilpPaperPlanner
from streamjob_planners.milp_settings import PUBLISHED, MilpSettings
from streamjob_planners.model import Budget, IntArray, LoadModel, Planner, PlanParams

N_NODES, N_GROUPS, N_OPERATORS, MOVES = 10, 100, 5, 5
SEEDS, ROUNDS, STEPS = range(1, 6), 6, 2_000
SNAPSHOTS = Path("samples/snapshots")
COLLOCATION_ROUNDS, COLLOCATION_SEEDS = 20, (1, 2)
VARIANTS: dict[str, Callable[[], Planner]] = {
    "milp": MilpPlanner,
    "ceiled mean": lambda: MilpPaperPlanner(MilpSettings(ceiled_mean=True)),
    "constraint (5)": lambda: MilpPaperPlanner(MilpSettings(within_mean=True)),
    "no second goal": lambda: MilpPaperPlanner(MilpSettings(drains=False)),
    "milp-paper": lambda: MilpPaperPlanner(PUBLISHED),
}


def fluctuating(seed: int) -> worlds.World:
    """Section 5.1: two of ten nodes 20 points up or down."""
    return worlds.solver_world(N_NODES, N_GROUPS, N_OPERATORS, 40.0, seed)


def hot(seed: int) -> worlds.World:
    """A rush on what one node holds: three times its load, half as much elsewhere."""
    world = fluctuating(seed)
    factor = np.where(world.node_of == 0, 3.0, 0.5)
    return dataclasses.replace(world, base_load=world.base_load * factor)


def crowded(seed: int) -> worlds.World:
    """Four of ten key groups are on one node: more than twice the mean stays there for rounds."""
    world, groups = fluctuating(seed), np.arange(N_GROUPS)
    return world.placed(np.where(groups < 4 * N_NODES, 0, 1 + groups % (N_NODES - 1)))


def scale_out(seed: int) -> worlds.World:
    """Two of ten nodes are new and empty."""
    world = fluctuating(seed)
    return world.placed(np.arange(N_GROUPS) % (N_NODES - 2))


def scale_in(seed: int) -> worlds.World:
    """Two of ten nodes are marked; loads are log-normal, so that some key groups are light."""
    world = fluctuating(seed)
    load = np.random.default_rng([seed, 9]).lognormal(1.2, 0.8, N_GROUPS)
    return dataclasses.replace(world, base_load=load, marked=np.arange(N_NODES) >= N_NODES - 2)


WORLDS: dict[str, Callable[[int], worlds.World]] = {
    "fluctuating": fluctuating,
    "hot node": hot,
    "crowded node": crowded,
    "scale-out": scale_out,
    "scale-in": scale_in,
}


def clauses(kinds: Sequence[str]) -> None:
    """Each clause alone, and all of them, on each of these kinds of worlds; means over the seeds."""
    header = ("world", "planner", "d before", "d, round 1", "d at the end", "held", "moves", "rounds", "left on marked")
    print(f"{N_NODES} nodes, {N_GROUPS} key groups, {MOVES} moves a round, {len(SEEDS)} seeds; d by the exact mean")
    for kind in kinds:
        world_of = WORLDS[kind]
        rows: list[list[object]] = []
        drains = bool(world_of(SEEDS[0]).marked.any())
        for name, make in VARIANTS.items():
            if name == "no second goal" and not drains:
                continue  # without marked nodes it is `milp`
            runs = [_run(world_of(seed), make(), MOVES, ROUNDS) for seed in SEEDS]
            before = float(np.mean([worlds.load_distance(world_of(seed)) for seed in SEEDS]))
            rows.append([kind, name, before, *_means(runs)])
        table(header, rows)


def _run(world: worlds.World, planner: Planner, moves: int, rounds: int, *, drifts: bool = False) -> Run:
    params = PlanParams(budget=Budget(max_migrations=moves), tolerance=0.0, deadline_s=600.0, max_iterations=STEPS)
    change = (lambda now, number: worlds.drift(now, np.random.default_rng(number))) if drifts else None
    at_rest = None if drifts else (lambda one: one.migrations == 0)
    return run_rounds(world, planner, params, rounds, change, until=at_rest)


def _means(runs: list[Run]) -> list[object]:
    """Distance after the first and last round, runs whose first round moved nothing, moves, rounds, key groups left."""
    return [
        float(np.mean([one.rounds[0].load_distance for one in runs])),
        float(np.mean([one.rounds[-1].load_distance for one in runs])),
        sum(one.rounds[0].migrations == 0 for one in runs),
        float(np.mean([sum(one.series("migrations")) for one in runs])),
        float(np.mean([len(one.rounds) for one in runs])),
        float(np.mean([one.rounds[-1].marked_groups for one in runs])),
    ]


def collocation() -> None:
    """Algorithm 2 with a search or with the published program inside, and ours: section 5.3, x = 50, pairs."""
    rows: list[list[object]] = []
    for name in ("albic", "albic-paper", "albic-paper-milp", "milp-paper"):
        runs = [
            _run(
                worlds.collocation_world(N_NODES, N_GROUPS, 4, 50.0, seed, chain=False),
                registry.get(name),
                MOVES,
                COLLOCATION_ROUNDS,
                drifts=True,
            )
            for seed in COLLOCATION_SEEDS
        ]
        rows.append([name, *_collocated(runs)])
    print(f"\n{N_NODES} nodes, {N_GROUPS} key groups, {MOVES} moves a round, {COLLOCATION_ROUNDS} rounds, drift of 2 %")
    table(("planner", "collocation %", "d mean", "d most", "moves a round", "s a round"), rows)


def _collocated(runs: list[Run]) -> list[object]:
    distance = np.concatenate([one.series("load_distance") for one in runs])
    return [
        float(np.mean([one.rounds[-1].collocation_pct for one in runs])),
        float(distance.mean()),
        float(distance.max()),
        float(np.mean([one.series("migrations") for one in runs])),
        float(np.mean([one.series("elapsed_s") for one in runs])),
    ]


def alpha() -> None:
    """Moves until what a move costs is known within a tenth, where it costs this much and varies by a fifth."""
    print("\nmoves until the seconds of a move of 5 MB are known within a tenth (20 seeds: median, most)")
    truths = {"local disk": (0.2, 5.5e-9), "half the price": (0.1, 2.7e-9), "far store": (2.0, 2e-8)}
    rows = [[name, *truth, *_learned(*truth)] for name, truth in truths.items()]
    table(("store", "fixed s", "s per byte", "median", "most"), [[r[0], r[1], f"{r[2]:.1e}", *r[3:]] for r in rows])


def _learned(fixed_s: float, byte_s: float) -> tuple[float, int]:
    counts = [next(_until_known(fixed_s, byte_s, seed)) for seed in range(20)]
    return float(np.median(counts)), max(counts)


def _until_known(fixed_s: float, byte_s: float, seed: int) -> Iterator[int]:
    rng, evidence, size = np.random.default_rng(seed), MoveEvidence.prior(), 5e6
    for count in range(1, 1000):
        state = float(rng.lognormal(np.log(size), 1.0))
        evidence = evidence.with_move(state, (fixed_s + byte_s * state) * float(rng.normal(1.0, 0.2)))
        fixed, slope = evidence.line
        if abs(fixed + slope * size - fixed_s - byte_s * size) <= 0.1 * (fixed_s + byte_s * size):
            yield count


def bottleneck() -> None:
    """What of the executors recorded jobs use in all, and the load distance by time where plans go by CPU instead."""
    header = ("snapshot", "time %", "CPU %", "d today", "planned by time", "planned by CPU", "by CPU, in CPU")
    rows: list[list[object]] = []
    for path in sorted(SNAPSHOTS.glob("*.json")):
        snapshot = read_moment(path).snapshot
        model = dataclasses.replace(estimate(snapshot, Memory()).model, batch=None)
        by_cpu = dataclasses.replace(model, load=model.load * snapshot.cpu_s / snapshot.busy_s)
        capacity, plans = model.capacity.sum(), [_planned(one) for one in (model, by_cpu)]
        used = [float(one.load.sum() / capacity) for one in (model, by_cpu)]
        distances = [measures.load_distance(model, one) for one in (model.node_of, *plans)]
        rows.append([path.stem, *used, *distances, measures.load_distance(by_cpu, plans[1])])
    print("\nrecorded jobs: total usage, and load distances in percent points")
    table(header, rows)


def _planned(model: LoadModel) -> IntArray:
    params = PlanParams(tolerance=0.0, deadline_s=600.0, max_iterations=100_000)
    return registry.get("search").solve(model, params, np.random.default_rng(1), lambda: 0.0).node_of


PARTS = {"bottleneck": bottleneck, "collocation": collocation, "alpha": alpha}


def main() -> None:
    """Prints all tables, or those asked for: parts, or kinds of worlds of the table of clauses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*WORLDS, *PARTS, []], default=[], help="default: all")
    asked = parser.parse_args().parts or [*WORLDS, *PARTS]
    kinds = [name for name in asked if name in WORLDS]
    if kinds:
        clauses(kinds)
    for name in asked:
        if name in PARTS:
            PARTS[name]()


if __name__ == "__main__":
    main()
