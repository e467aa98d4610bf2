"""Who balances in section 6.2.2, as changes of a mapping plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from benchmarks.kept import piece
from benchmarks.tides import Change, Outcome, Setting, run

from streamjob_planners.correlation.improve import THETA, improve_overloaded
from streamjob_planners.correlation.mapping import Mapping
from streamjob_planners.correlation.pairwise import EPSILON, Step, balance_pairs, one_way
from streamjob_planners.correlation.placing import cor_glb, place_all
from streamjob_planners.correlation.scores import Score, at_random, by_correlation, largest_first
from streamjob_planners.correlation.twoway import DELTA, exchange, redistribute


def never() -> bool:
    """The published algorithms know no deadline."""
    return False


def glb(mapping: Mapping) -> None:
    """COR-GLB."""
    cor_glb(mapping, EPSILON, THETA, None, never)


def glb_by(score: Score) -> Change:
    """LLF-GLB, RAND-GLB."""
    return lambda mapping: void(place_all(mapping, score, EPSILON, never))


def bal_by(score: Score) -> Change:
    """COR-BAL, LLF-BAL, RAND-BAL."""
    return lambda mapping: balance_pairs(mapping, EPSILON, one_way(score), never)


def improved(step: Step) -> Change:
    """COR-RE-IMP, COR-SE-IMP."""

    def change(mapping: Mapping) -> None:
        balance_pairs(mapping, EPSILON, step, never)
        improve_overloaded(mapping, THETA, 1.0, step, never)

    return change


def void(_: object) -> None:
    """Nothing."""


def random_score(seed: int) -> Score:
    """RAND with chance of its own."""
    return at_random(np.random.default_rng([seed, 5]))


GLOBAL: dict[str, Callable[[int], Change]] = {
    "COR-GLB": lambda seed: glb,
    "RAND-GLB": lambda seed: glb_by(random_score(seed)),
    "LLF-GLB": lambda seed: glb_by(largest_first),
}
PAIRS: dict[str, Callable[[int], Change]] = {
    "COR-BAL": lambda seed: bal_by(by_correlation),
    "RAND-BAL": lambda seed: bal_by(random_score(seed)),
    "LLF-BAL": lambda seed: bal_by(largest_first),
    "COR-RE-IMP": lambda seed: improved(redistribute),
    "COR-SE-IMP": lambda seed: improved(exchange(DELTA)),
}
TABLE = {one.name: one.default for one in dataclasses.fields(Setting)}
"""The values of table 6.2, by parameter."""


@piece
def once(seed: int, first: str | None, then: str | None, **setting: float | bool) -> Outcome:
    """One run: `first` once after the warm-up, `then` every second."""
    return run(
        Setting(seed=seed, **setting),  # type: ignore[arg-type]
        None if first is None else GLOBAL[first](seed),
        None if then is None else PAIRS[then](seed),
    )


def repeated(seeds: int, first: str | None, then: str | None, **setting: float | bool) -> list[Outcome]:
    """Runs over seeds 1, 2, ... What table 6.2 says anyway goes without saying: the same run is one piece."""
    other = {name: value for name, value in setting.items() if value != TABLE[name]}
    return [once(seed, first, then, **other) for seed in range(1, seeds + 1)]


def latency(outcomes: list[Outcome]) -> float:
    """Mean latency ratio over the seeds."""
    return float(np.mean([one.latency_ratio for one in outcomes]))
