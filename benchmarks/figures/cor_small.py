"""Figures 1.5 and 5.1 and table 5.1 of the dissertation on load distribution.

Run with `python -m benchmarks.figures.cor_small`.
"""

from __future__ import annotations

import time

import numpy as np
from benchmarks.figures.cor_policies import glb
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import piece
from benchmarks.queueing import advance, new_state

from streamjob_planners.correlation.mapping import mapping_of
from streamjob_planners.correlation.twoway import redistribute

LOADS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
PLANS = {"connected": (0, 0, 1, 1), "cut": (0, 1, 1, 0)}
BURST_S, DURATION_S, SERVICE_S = 5.0, 300, 0.001
PAIRS, WINDOWS = 3000, 20
SIZES = {10: 0.5, 20: 3.4, 50: 54.0}
"""Table 5.1: seconds on an Athlon of 2 GHz."""


@piece
def antiphase(plan: tuple[int, ...], load: float, seed: int) -> float:
    """Mean latency in ms of two chains of two operators whose bursts take turns, high twice as much as low."""
    rng, times, chains = np.random.default_rng(seed), [], []
    for chain in (0, 1):
        for begin in np.arange(0.0, DURATION_S, BURST_S).tolist():
            high = (begin / BURST_S + chain) % 2 < 1
            rate = load / (2 * SERVICE_S) * (4 / 3 if high else 2 / 3)
            found = begin + np.sort(rng.uniform(0.0, BURST_S, rng.poisson(rate * BURST_S)))
            times.append(found)
            chains.append(np.full(found.size, chain))
    order = np.argsort(np.concatenate(times))
    came = np.concatenate(times)[order], np.concatenate(chains)[order]
    state = new_state(2, np.array(plan), np.ones(4), 2, came, DURATION_S, seed, SERVICE_S)
    advance(state, float(DURATION_S))
    return float(state.out[:, 1].sum() / state.out[:, 0].sum() * 1000)


def split_pairs() -> tuple[np.ndarray, np.ndarray, float]:
    """Correlation and sum of variances of random positive pairs with one sum, and the variance of that sum."""
    rng = np.random.default_rng(1)
    whole = rng.uniform(1.0, 4.0, WINDOWS)
    found = np.zeros((2, PAIRS))
    for i in range(PAIRS):
        spread = rng.uniform(0.0, 0.5)
        part = whole * rng.uniform(0.5 - spread, 0.5 + spread, WINDOWS)
        found[:, i] = np.corrcoef(part, whole - part)[0, 1], part.var() + (whole - part).var()
    return found[0], found[1], float(whole.var())


@piece
def seconds_of_glb(n_nodes: int) -> float:
    """Processor time of one COR-GLB, ten operators a node, ten windows."""
    rng = np.random.default_rng(1)
    series = rng.uniform(0.0, 0.16, (10 * n_nodes, 10))
    mapping = mapping_of(series, rng.integers(0, n_nodes, 10 * n_nodes), np.ones(n_nodes))
    start = time.process_time()
    glb(mapping)
    return time.process_time() - start


@piece
def ms_of_pair() -> float:
    """Processor time of one two-way redistribution of twenty operators, milliseconds."""
    series = np.random.default_rng(1).uniform(0.0, 0.16, (20, 10))
    start = time.process_time()
    for seed in range(20):
        places = np.random.default_rng(seed).integers(0, 2, 20)
        redistribute(mapping_of(series, places, np.ones(2)), 0, 1)
    return (time.process_time() - start) / 20 * 1000


def main() -> None:
    """Prints and draws the figures."""
    quick = arguments(__doc__ or "").quick
    page = Page("cor_small")
    latency = {name: [antiphase(plan, load, 1) for load in LOADS] for name, plan in PLANS.items()}
    print("Figure 1.5: mean latency, ms")
    table(("load", *latency), [[load, *(latency[n][i] for n in latency)] for i, load in enumerate(LOADS)])
    together, variance, whole = split_pairs()
    sizes = [n for n in SIZES if n < 50 or not quick]
    took = {n: seconds_of_glb(n) for n in sizes}
    pair_ms = ms_of_pair()
    print("\nTable 5.1: processor time of COR-GLB")
    table(("nodes", "ours, s", "the paper, s"), [[n, took[n], SIZES[n]] for n in sizes])
    _claims(page, latency, together, variance, whole)
    page.claims(
        [
            Claim(
                paper="COR-GLB takes 0.5 s, 3.4 s, 0.9 min for 10, 20, 50 nodes; a pair 6 ms (2 GHz Athlon).",
                ours=", ".join(f"{n} nodes {v:.2f} s" for n, v in took.items()) + f"; a pair {pair_ms:.1f} ms.",
                holds=all(v <= SIZES[n] for n, v in took.items()),
            )
        ],
        "table 5.1",
    )
    order = np.argsort(together)
    x = together[order]
    bound = np.where(x > 0, whole / (1 + x), np.minimum(whole / np.maximum(1 + x, 0.05), variance.max() * 1.1))
    page.draw(
        [
            Panel(title="1.5", x_label="load level", y_label="mean latency, ms", x=LOADS, lines=latency, log_y=True),
            Panel(
                title="5.1",
                x_label="correlation of X1 and X2",
                y_label="var X1 + var X2",
                x=x.tolist(),
                lines={
                    "pairs": variance[order].tolist(),
                    "var X": [whole] * PAIRS,
                    "var X / (1 + rho)": bound.tolist(),
                },
                dots=frozenset({"pairs"}),
            ),
        ],
        columns=2,
    )


def _claims(page: Page, latency: dict, together: np.ndarray, variance: np.ndarray, whole: float) -> None:
    part = [a / b for a, b in zip(latency["cut"], latency["connected"], strict=True)]
    page.claims(
        [
            Claim(
                paper="The cut plan's latency is far below that of the connected plan.",
                ours=f"Cut over connected by load level: {', '.join(f'{x:.2f}' for x in part)}.",
                holds=all(x < 1.05 for x in part) and min(part) < 0.2,
            )
        ],
        "figure 1.5",
    )
    other = whole / (1 + together)
    low, high = np.minimum(whole, other), np.maximum(whole, other)
    outside = int(((variance < low - 1e-9) | (variance > high + 1e-9)).sum())
    page.claims(
        [
            Claim(
                paper="All pairs lie between var X and var X / (1 + rho) (theorem 5).",
                ours=f"{outside} of {PAIRS} pairs outside; correlations {together.min():.2f} to {together.max():.2f}.",
                holds=outside == 0,
            )
        ],
        "figure 5.1",
    )


if __name__ == "__main__":
    main()
