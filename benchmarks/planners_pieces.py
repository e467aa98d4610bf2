"""What `planners_goals` measures, in pieces of at most five minutes; each gives trials, each trial its figures."""

from __future__ import annotations

import functools
import json
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks import worlds
from benchmarks.clocks import clock_of
from benchmarks.families import Family, drawn, families
from benchmarks.families_reference import reference, stretch
from benchmarks.figures.figure_05 import rounds_to_empty, scaled_in
from benchmarks.peers.compare import model_of, params_of
from benchmarks.peers.instance import score
from benchmarks.peers.sizes import large_instance
from benchmarks.planners_instances import instances, solve
from benchmarks.rounds import Run, run_rounds
from streamjob_planners import bound, registry
from streamjob_planners.model import Budget, Clock, LoadModel, PlanParams

Trial = dict[str, float]
BEST = Path("benchmarks/limits/planners-best.json")
"""The smallest load distance of each instance of section 5.1 that was ever found, and its proven bound."""
FAMILIES_BEST = Path("benchmarks/limits/families-best.json")
"""The smallest load distance of each family that was ever found."""
FAMILY_SEEDS, KNOWN_S = (11, 12), 6.0
"""Seeds of the families, and seconds for either planner to find the best known distances."""
ONE_TO_ONE = 1000.0
"""Bytes/s between partners in the worlds of section 5.3; every other link carries less."""
QUIET_ROUNDS = 5
NOTHING = 1e-3
"""Percent points that nobody could measure, a fifty-thousandth of the mean load: two percent of a distance of 0.01 are
less."""

UNFELT = 0.05
"""Percent points that no user would feel, a thousandth of the mean load: distances below count as equal in a second
ratio, as most of the best known distances of families are some thousandths of a point."""


def section_51(deadline_s: float, trials: int, *, cpu: bool = False) -> Iterator[Trial]:
    """All 72 instances, once per trial; what is better than the best known becomes the best known."""
    known, (clock, faster) = json.loads(BEST.read_text(encoding="utf-8")), clock_of(cpu=cpu)
    for seed in range(trials):
        distances, gaps, ratios, best, took = [], [], [], [], []
        for label, model, budget in instances(1):
            params = PlanParams(budget=budget, tolerance=0.0, deadline_s=faster * deadline_s)
            plan, took_s = solve("search", model, params, seed, clock)
            one, distance = known[label], plan.after.load_distance
            one["best"] = min(one["best"], distance)
            distances.append(distance)
            gaps.append(distance - max(one["bound"], plan.lower_bound or 0.0))
            ratios.append(distance / one["best"])
            best.append(one["best"])
            took.append(took_s)
        BEST.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        yield {
            "mean_gap": float(np.mean(gaps)),
            "most_gap": float(np.max(gaps)),
            "second_gap": sorted(gaps)[-2],
            "ratio_of_means": float(np.sum(distances) / sum(one["best"] for one in known.values())),
            "mean_ratio": float(np.mean(ratios)),
            "most_ratio": float(np.max(ratios)),
            "above_1.02": float(sum(_worse(one, of) for one, of in zip(distances, best, strict=True))),
            "above_1.02_by_any": float(np.sum(np.array(ratios) > 1.02)),
            **_overrun(took, deadline_s, cpu=cpu),
        }


def _overrun(took: list[float], deadline_s: float, *, cpu: bool) -> Trial:
    """By how much the latest plan was late: nothing is said of that where deadlines are CPU time."""
    return {} if cpu else {"overrun_s": float(np.max(took)) - deadline_s}


def _worse(distance: float, best: float) -> bool:
    return distance > max(1.02 * best, best + NOTHING)


def prove() -> Iterator[Trial]:
    """The bound of every instance with all the time it wants, for the file of best known values."""
    known = json.loads(BEST.read_text(encoding="utf-8")) if BEST.exists() else {}
    for label, model, budget in instances(1):
        plan, _ = solve("search", model, PlanParams(budget=budget, tolerance=0.0, deadline_s=1.0), 0)
        lower = bound.lower_bound(model, PlanParams(budget=budget))
        before = known.get(label, {"best": np.inf, "bound": 0.0})
        known[label] = {
            "best": min(before["best"], plan.after.load_distance),
            "bound": max(before["bound"], lower),
        }
    BEST.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    yield {"instances": float(len(known)), "proven": float(sum(1 for one in known.values() if one["bound"] > 0))}


def large(n_nodes: int, n_groups: int, deadline_s: float, trials: int) -> Iterator[Trial]:
    """Log-normal loads, a tenth of the key groups may move; each trial in a process of its own, for its memory."""
    for number in range(trials):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            yield pool.apply(one_large, (n_nodes, n_groups, deadline_s, number))


def one_large(n_nodes: int, n_groups: int, deadline_s: float, number: int) -> Trial:
    """One such plan, with the memory of this process."""
    instance = large_instance(n_nodes, n_groups, number)
    model, params, planner = model_of(instance), params_of(instance, deadline_s), registry.get("search")
    began = time.perf_counter()
    plan = planner.solve(model, params, np.random.default_rng(number), time.perf_counter)
    took_s = time.perf_counter() - began
    found = score(instance, plan.node_of)
    if found.trouble is not None:
        raise RuntimeError(found.trouble)
    return {
        "load_distance": found.load_distance,
        "gap": found.load_distance - (plan.lower_bound or 0.0),
        "took_s": took_s,
        "overrun_s": took_s - deadline_s,
        "memory_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def scale_in(overloaded: int, trials: int) -> Iterator[Trial]:
    """Figure 5: fifteen rounds of twenty moves, ours and the way that is not integrated."""
    for seed in range(1, trials + 1):
        ours, apart = (scaled_in(planner, overloaded, seed) for planner in ("albic", "non-integrated"))
        distances = np.array(ours.series("load_distance"))
        yield {
            "rounds": float(rounds_to_empty(ours)),
            "above_other_way": float(np.max(distances - np.array(apart.series("load_distance")))),
            "end_distance": float(distances[-1]),
        }


def collocation(one_to_one_pct: float, rounds: int, trials: int, *, chain: bool) -> Iterator[Trial]:
    """Section 5.3, 40 nodes, loads that stay: rounds until all one-to-one traffic is local, and what comes after."""
    for seed in range(1, trials + 1):
        world = worlds.collocation_world(40, 800, 20, one_to_one_pct, seed, chain=chain)
        shares: list[float] = []

        def watched(now: worlds.World, _: int, shares: list[float] = shares) -> worlds.World:
            shares.append(partners_together(now))
            return now

        params = PlanParams(budget=Budget(max_migrations=20), deadline_s=0.5)
        run = run_rounds(world, registry.get("albic"), params, rounds, watched)
        shares.append(partners_together(run.world))
        yield _settled(run, shares[1:])


def partners_together(world: worlds.World) -> float:
    """Part of the one-to-one traffic that stays on a node, 0 to 1."""
    edges = world.model().traffic
    if edges is None:
        return 0.0
    pairs = edges.tocoo()
    partners = pairs.data >= ONE_TO_ONE
    local = world.node_of[pairs.row] == world.node_of[pairs.col]
    return float(local[partners].mean())


def _settled(run: Run, shares: list[float]) -> Trial:
    together = next((number for number, share in enumerate(shares, 1) if share == 1.0), len(shares) + 1)
    return {
        "rounds": float(together),
        "most_distance": max(run.series("load_distance")),
        "collocation_pct": run.rounds[-1].collocation_pct,
        "last_moves": sum(run.series("migrations")[-QUIET_ROUNDS:]),
    }


def families_known(seed: int) -> Iterator[Trial]:
    """The smallest distance of each family found by anyone: ours with more time, and a planner apart from it."""
    known = known_families()
    ours = 0
    for family in families():
        model, budget = drawn(family, seed)
        theirs = stretch(model, reference(model, budget, KNOWN_S, seed))
        mine, _ = family_reached(model, budget, KNOWN_S, seed)
        ours += mine <= theirs
        _learn(known, family, seed, min(mine, theirs))
    yield {"families": float(len(tuple(families()))), "best_by_ours": float(ours)}


def families_at(deadline_s: float, *, cpu: bool = False) -> Iterator[Trial]:
    """Every family, by how much its distance is above the best known one; what is better becomes the best known."""
    known, (clock, faster) = known_families(), clock_of(cpu=cpu)
    for seed in FAMILY_SEEDS:
        ratios, felt, took = [], [], []
        for family in families():
            reached, took_s = family_reached(*drawn(family, seed), faster * deadline_s, seed, clock)
            _learn(known, family, seed, reached)
            best = known[label_of(family, seed)]
            ratios.append(max(reached, NOTHING) / max(best, NOTHING))
            felt.append(max(reached, UNFELT) / max(best, UNFELT))
            took.append(took_s)
        yield {
            "median_felt": float(np.median(felt)),
            "most_felt": float(np.max(felt)),
            "median_ratio": float(np.median(ratios)),
            "ratio_above_three_quarters": float(np.quantile(ratios, 0.75)),
            "most_ratio": float(np.max(ratios)),
            **_overrun(took, deadline_s, cpu=cpu),
        }


def label_of(family: Family, seed: int) -> str:
    """The key of the best known distance."""
    return f"{family.name}; seed {seed}"


def known_families() -> dict[str, float]:
    """The smallest load distance of each family and seed that was ever found, percent points."""
    return json.loads(FAMILIES_BEST.read_text(encoding="utf-8")) if FAMILIES_BEST.exists() else {}


def _learn(known: dict[str, float], family: Family, seed: int, reached: float) -> None:
    """Keep what is better, at once: a piece that is cut short has learned all the same."""
    label = label_of(family, seed)
    known[label] = min(known.get(label, np.inf), reached)
    FAMILIES_BEST.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def family_reached(
    model: LoadModel, budget: Budget, deadline_s: float, seed: int, clock: Clock = time.perf_counter
) -> tuple[float, float]:
    """The distance that `search` reaches, with marked nodes counted above the mean, and the seconds it takes."""
    params = PlanParams(budget=budget, tolerance=0.0, deadline_s=deadline_s)
    planner, began = registry.get("search"), clock()
    plan = planner.solve(model, params, np.random.default_rng(seed), clock)
    return stretch(model, plan.node_of), clock() - began


PIECES: dict[str, Callable[[], Iterator[Trial]]] = {
    "best known": prove,
    "5.1 at 0.1 s": lambda: section_51(0.1, 5),
    "5.1 at 1 s": lambda: section_51(1.0, 2),
    "100 x 10,000 at 1 s": lambda: large(100, 10_000, 1.0, 5),
    "1000 x 100,000 at 1 s": lambda: large(1000, 100_000, 1.0, 5),
    "1000 x 100,000 at 5 s": lambda: large(1000, 100_000, 5.0, 5),
    "10,000 x 1,000,000 at 1 s": lambda: large(10_000, 1_000_000, 1.0, 5),
    "10,000 x 1,000,000 at 5 s": lambda: large(10_000, 1_000_000, 5.0, 3),
    "10,000 x 1,000,000 at 30 s": lambda: large(10_000, 1_000_000, 30.0, 3),
    **{f"families, best known, seed {seed}": functools.partial(families_known, seed) for seed in FAMILY_SEEDS},
    "families at 0.1 s": lambda: families_at(0.1),
    "families at 1 s": lambda: families_at(1.0),
    "figure 5, one overloaded": lambda: scale_in(1, 3),
    "figure 5, five overloaded": lambda: scale_in(5, 3),
    "pairs, x = 50": lambda: collocation(50.0, 75, 2, chain=False),
    "chain, x = 100": lambda: collocation(100.0, 45, 2, chain=True),
}
BY_CPU: dict[str, Callable[[], Iterator[Trial]]] = {
    "5.1 at 0.1 s": lambda: section_51(0.1, 5, cpu=True),
    "5.1 at 1 s": lambda: section_51(1.0, 2, cpu=True),
    "families at 0.1 s": lambda: families_at(0.1, cpu=True),
    "families at 1 s": lambda: families_at(1.0, cpu=True),
}
"""Pieces whose deadlines may be CPU time of each thread, for a machine that others use, too."""
