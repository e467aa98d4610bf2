"""What each knob of the search is worth: the same plans with one knob changed, and by how much their distances change.

    python -m benchmarks.planners_knobs                    # every knob, 0.1 and 0.5 s, five minutes
    python -m benchmarks.planners_knobs --only long --seeds 4

Instances: families of several kinds and every ninth instance of section 5.1. What is shown is the geometric mean of
the distances with the knob changed over those without, and its standard error; above 1 the knob is worth something.
To every distance FLOOR is added, so that ratios of next to nothing do not count.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar
from unittest import mock

import numpy as np

from benchmarks.clocks import clock_of
from benchmarks.families import Family, drawn
from benchmarks.families_reference import stretch
from benchmarks.planners_instances import instances
from streamjob_planners import (
    balance,
    closing,
    drain,
    first_plans,
    levelling,
    long_passes,
    phases,
    relaying,
    tightening,
)
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.model import Budget, FloatArray, IntArray, LoadModel, PlanParams
from streamjob_planners.search import SearchPlanner

K = TypeVar("K")
FLOOR = 0.05
"""Percent points: a thousandth of the mean load."""
EVERY = 9
FIRST_SEED = 101
SAMPLE = (
    Family(nodes=100, groups=10_000, load="zipf, cut", place="random", budget_ratio=0.02),
    Family(nodes=60, groups=3_000, place="random", cost="correlated", marked=5),
    Family(nodes=300, groups=6_000, load="zipf, cut", place="random"),
    Family(nodes=40, groups=1000, place="random"),
    Family(nodes=40, groups=1000, load="zipf, cut", place="drifted", cost="correlated"),
    Family(nodes=40, groups=1000, load="bimodal", place="random"),
    Family(nodes=40, groups=1000, place="a third empty", cost="bytes"),
    Family(nodes=10, groups=200, place="random", capacities=True, budget_ratio=0.2),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """A name, and what is set: attributes of modules, or fields of the schedule."""

    name: str
    schedule: dict[str, Any] = dataclasses.field(default_factory=dict)
    patches: tuple[tuple[Any, str, Any], ...] = ()

    @contextlib.contextmanager
    def turned(self) -> Iterator[SearchPlanner]:
        """The planner with this knob changed."""
        with contextlib.ExitStack() as stack:
            for module, name, value in self.patches:
                stack.enter_context(mock.patch.object(module, name, value))
            yield SearchPlanner(schedule=balance.Schedule(**self.schedule))


def _uncovered(engine: Engine, limits: Limits, best: IntArray, part: float, noise: float) -> IntArray:
    """What covering begins with."""
    return best


def knobs() -> Iterator[Knob]:
    """Every knob off, or far from where it is."""
    yield Knob(name="nothing changed (noise)")
    yield Knob(name="first plans: no covering", patches=((first_plans, "covered", _uncovered),))
    yield Knob(name="first plans: one for each thread", patches=((first_plans, "MOST_STARTS", 1),))
    yield Knob(name="first plans: up to twelve for each thread", patches=((first_plans, "MOST_STARTS", 12),))
    yield Knob(name="first plans: both spend all of the budget", patches=((first_plans, "PARTS", (1.0, 1.0)),))
    yield Knob(name="first plans: one round of levelling", patches=((levelling, "ROUNDS", 1),))
    yield Knob(name="closer bands: none", patches=((tightening, "LAST_PART", 0.0),))
    yield Knob(name="bound: twice the time", patches=((phases, "BOUND_SHARE", 0.2),))
    yield Knob(name="long passes: none", schedule={"long": 0.0, "long_tight": 0.0})
    yield Knob(name="long passes: all", schedule={"long": 1.0})
    yield Knob(name="long passes: as many where moves are few", schedule={"long_tight": 0.4})
    yield Knob(name="long passes: half as long", schedule={"long_share": 0.15})
    yield Knob(name="long passes: always from the best", schedule={"long_again": 0.0})
    yield Knob(name="long passes: always from today", schedule={"long_again": 1.0})
    yield Knob(name="long passes: heat by no chance", patches=((long_passes, "SPREAD", 0.0),))
    yield Knob(name="long passes: half as hot", patches=((long_passes, "HEAT", 0.25),))
    yield Knob(name="long passes: twice as hot", patches=((long_passes, "HEAT", 1.0),))
    hot = ((long_passes, "HEAT", 1.0), (long_passes, "SPREAD", 1.0))
    yield Knob(name="long passes: twice as hot, more by chance", patches=hot)
    off = tuple((module, "FIRST_PART", 1.0) for module in (closing, relaying))
    yield Knob(name="exact exchanges and relays: none", schedule={"exact": 0.0, "relays": 0.0}, patches=off)
    yield Knob(name="relays: as often as other passes", schedule={"relays": 0.0})
    yield Knob(name="relays: nine of ten meetings", schedule={"relays": 0.9})
    yield Knob(name="relays: hardly any begins with a group that goes home", patches=_drawn("KICKED", 1e-3))
    yield Knob(name="relays: half begin so", patches=_drawn("KICKED", 0.5))
    yield Knob(name="relays: hardly any move is saved", patches=_drawn("SAVED", 1e-6))
    yield Knob(name="relays: hardly any drifts", patches=_drawn("DRIFTS", 1e-6))
    yield Knob(name="relays: hardly any leaves more than it found", patches=_drawn("SLACKS", 1.3))
    yield Knob(name="relays: any leaves what it likes", patches=_drawn("SLACKS", 100.0))
    yield Knob(name="relays: four times as many hops", patches=_drawn("LONGER", 4.0))
    yield Knob(name="relays: the same hops in all tries", patches=_drawn("LONGER", 1.0))
    yield Knob(name="relays: three tenths for first plans", patches=((phases, "RELAYED_TIGHT_SHARE", 0.3),))
    yield Knob(name="exact exchanges: nothing saved", patches=((closing, "SAVES", 0),))
    yield Knob(name="exact exchanges: nothing passed on", patches=((closing, "PASSED_ON", 1),))
    yield Knob(name="exact exchanges: passed on at most as it was", patches=((closing, "SLACK", 1.0),))
    yield Knob(name="exact exchanges: twice as many failures", patches=((closing, "MOST_FAILED", 8),))
    yield Knob(name="passes: three of ten with exact exchanges", schedule={"exact": 0.3})
    yield Knob(name="passes: none held to counts", schedule={"counted": 0.0})
    yield Knob(name="passes: held to counts as hot as others", schedule={"counted_heat": 1.0})
    yield Knob(name="passes: never from today", schedule={"again": 0.0, "again_far": 0.0})
    yield Knob(name="passes: as often from today when far", schedule={"again_far": 0.4})
    yield Knob(name="passes: no shaking", schedule={"shake": 0.0})
    yield Knob(name="passes: not longer with more moves", schedule={"steps_per_move": 0})
    yield Knob(name="passes: aim at the best", schedule={"aim": 0.0})
    yield Knob(name="passes: half as hot", schedule={"heat": 0.06})
    yield Knob(name="passes: heat by no chance", schedule={"spread": 0.0})
    yield Knob(name="passes: meet after each", schedule={"alone": 1})
    yield Knob(name="passes: moves cost nothing", schedule={"price": 0.0})
    yield Knob(name="passes: marked nodes do not matter", schedule={"drain": 0.0})
    yield Knob(name="drain: may use a tenth", patches=((drain, "DRAIN_SLACK_RATIO", 1.1),))


def _drawn(name: str, value: float) -> tuple[tuple[Any, str, Any], ...]:
    """One value in place of what is drawn for each try of relays."""
    return ((relaying, name, (value, value)),)


def sample(seed: int) -> Iterator[tuple[LoadModel, Budget]]:
    """The instances."""
    for family in SAMPLE:
        yield drawn(family, seed)
    for number, (_, model, budget) in enumerate(instances(1)):
        if number % EVERY == seed % EVERY:
            yield model, budget


def distances(knob: Knob, deadline_s: float, seeds: range, *, cpu: bool) -> FloatArray:
    """What is reached, with FLOOR added, (n_plans,); `cpu`: the deadline is CPU time of each thread."""
    found, (clock, faster) = [], clock_of(cpu=cpu)
    with knob.turned() as planner:
        for seed in seeds:
            for model, budget in sample(seed):
                params = PlanParams(budget=budget, tolerance=0.0, deadline_s=faster * deadline_s)
                plan = planner.solve(model, params, np.random.default_rng(seed), clock)
                found.append(stretch(model, plan.node_of) + FLOOR)
    return np.array(found)


def ratio(after: FloatArray, before: FloatArray) -> str:
    """Geometric mean of one over the other, and its standard error."""
    logs = np.log(after / before)
    return f"{np.exp(logs.mean()):.3f} ± {logs.std() / np.sqrt(logs.size):.3f}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a person asked for: deadlines in seconds, CPU seconds where `cpu`, and knobs with `only` in their name."""

    deadlines_s: Sequence[float]
    seeds: range
    cpu: bool
    only: str


def asked(description: str | None) -> Asked:
    """Of the command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deadline", action="append", type=float, help="seconds; default: 0.1 and 0.5")
    parser.add_argument("--seeds", type=int, default=1, help="how often every instance is planned for")
    parser.add_argument("--cpu", action="store_true", help="deadlines in CPU time, for a machine that others use")
    parser.add_argument("--only", default="", help="knobs with this in their name")
    told = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + told.seeds)
    return Asked(deadlines_s=told.deadline or [0.1, 0.5], seeds=seeds, cpu=told.cpu, only=told.only)


def print_table(
    what: Asked, named: Iterable[tuple[str, K]], measured: Callable[[K], Sequence[FloatArray]], untouched: K
) -> None:
    """A line for each knob: what is reached with it over what is reached `untouched`, at each deadline."""
    before = measured(untouched)
    print("| knob | " + " | ".join(f"at {deadline_s:g} s" for deadline_s in what.deadlines_s) + " |")
    print("|---" * (len(what.deadlines_s) + 1) + "|", flush=True)
    for name, knob in named:
        if what.only in name:
            cells = [ratio(one, base) for one, base in zip(measured(knob), before, strict=True)]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print a line for each knob."""
    what = asked(__doc__)

    def measured(knob: Knob) -> list[FloatArray]:
        return [distances(knob, deadline_s, what.seeds, cpu=what.cpu) for deadline_s in what.deadlines_s]

    print_table(what, ((knob.name, knob) for knob in knobs()), measured, Knob(name=""))


if __name__ == "__main__":
    main()
