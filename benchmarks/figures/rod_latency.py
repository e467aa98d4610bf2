"""Figures 6.12 and 6.13 of the dissertation on load distribution: latency of aggregates on bursty traffic.

Run with `python -m benchmarks.figures.rod_latency`. Borealis and the hour of TCP packets are not to be had: five nodes
are simulated, and the ten sub-streams have self-similar rates (a multiplicative cascade).
"""

from __future__ import annotations

import numpy as np
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import piece
from benchmarks.queueing import advance, new_state
from scipy import sparse

from streamjob_planners.rod.baselines import at_random, by_correlation, connected, largest_load_first
from streamjob_planners.rod.linear import LinearModel
from streamjob_planners.rod.placing import rod

N_NODES, N_STREAMS, N_AGGREGATES = 5, 10, 16
OBSERVED_S, DURATION_S = 128, 512
BIAS = 0.64
"""Of the cascade: half of a time span gets at most this part of its tuples, and at least the rest."""
BASE_LOAD = 0.23
MULTIPLIERS = (1.0, 2.0, 3.0, 3.5, 4.0)
NAMES = ("ROD", "Correlation", "LLF", "Max-Rate", "Random", "Connected")


def rates(seed: int) -> np.ndarray:
    """Tuples per second of each sub-stream, of mean 1 over all of them, (DURATION_S, N_STREAMS)."""
    rng = np.random.default_rng([seed, 1])
    table_ = np.ones((1, N_STREAMS)) * rng.uniform(0.7, 1.3, N_STREAMS)
    while len(table_) < DURATION_S:
        part = 2 * rng.uniform(1 - BIAS, BIAS, table_.shape)
        table_ = np.stack((table_ * part, table_ * (2 - part)), axis=1).reshape(-1, N_STREAMS)
    return table_ / table_.mean()


def costs(seed: int) -> np.ndarray:
    """Milliseconds per tuple of each aggregate on each sub-stream, (N_STREAMS * N_AGGREGATES,)."""
    kinds = np.random.default_rng([seed, 2]).uniform(0.2, 1.8, N_AGGREGATES)
    return np.tile(kinds, N_STREAMS)


def place(name: str, model: LinearModel, seen: np.ndarray, seed: int) -> np.ndarray:
    """By what was observed in the first part of the run, (windows, N_STREAMS)."""
    n = N_STREAMS * N_AGGREGATES
    same = np.kron(np.eye(N_STREAMS), np.ones((N_AGGREGATES, N_AGGREGATES))) - np.eye(n)
    windows = seen[: len(seen) // 10 * 10].reshape(-1, 10, N_STREAMS).mean(axis=1)
    made = {
        "ROD": lambda: rod(model),
        "Correlation": lambda: by_correlation(model, windows),
        "LLF": lambda: largest_load_first(model, seen.mean(axis=0)),
        "Max-Rate": lambda: largest_load_first(model, seen.max(axis=0)),
        "Random": lambda: at_random(model, np.random.default_rng([seed, 3])),
        "Connected": lambda: connected(model, seen.mean(axis=0), sparse.csr_array(same)),
    }
    return made[name]()


@piece
def latencies(name: str, multiplier: float, seed: int) -> tuple[float, float]:
    """Mean and greatest latency in ms after the observed part."""
    rate, cost = rates(seed), costs(seed)
    table_ = np.kron(np.eye(N_STREAMS), np.ones((N_AGGREGATES, 1))) * cost[:, None]
    model = LinearModel(coefficients=table_, capacity=np.full(N_NODES, 1000.0))
    scale = BASE_LOAD * 1000.0 * N_NODES / float((rate @ table_.T).sum(axis=1).mean())
    rng, times, streams = np.random.default_rng([seed, 4]), [], []
    for stream in range(N_STREAMS):
        counts = rng.poisson(rate[:, stream] * scale * multiplier)
        found = np.sort(np.repeat(np.arange(DURATION_S), counts) + rng.random(counts.sum()))
        for aggregate in range(N_AGGREGATES):
            times.append(found)
            streams.append(np.full(found.size, stream * N_AGGREGATES + aggregate))
    order = np.argsort(np.concatenate(times), kind="stable")
    came = np.concatenate(times)[order], np.concatenate(streams)[order]
    places = place(name, model, rate[:OBSERVED_S], seed)
    state = new_state(N_NODES, places, np.ones(cost.size), 1, came, DURATION_S, seed, cost / 1000.0)
    advance(state, float(DURATION_S))
    out = state.out[OBSERVED_S:]
    return float(out[:, 1].sum() / out[:, 0].sum() * 1000), float(out[:, 2].max() * 1000)


def main() -> None:
    """Prints and draws the figures."""
    quick = arguments(__doc__ or "").quick
    seeds = 1 if quick else 4
    found = {
        n: np.array([np.mean([latencies(n, m, s) for s in range(seeds)], axis=0) for m in MULTIPLIERS]) for n in NAMES
    }
    for column, what in ((0, "6.12: mean"), (1, "6.13: greatest")):
        print(f"\nFigure {what} latency, ms")
        table(
            ("rate x", *NAMES), [[m, *(float(found[n][i, column]) for n in NAMES)] for i, m in enumerate(MULTIPLIERS)]
        )
    page = Page("rod_latency")
    best = [[min(NAMES, key=lambda n, i=i, c=c: found[n][i, c]) for i in range(len(MULTIPLIERS))] for c in (0, 1)]
    near = [max(float(found["ROD"][i, c] / min(found[n][i, c] for n in NAMES)) for i in range(4)) for c in (0, 1)]
    page.claims(
        [
            Claim(
                paper="ROD performs better overall than all others, in mean and in greatest latency, at x1 to x3.5.",
                ours=f"Best in the mean: {', '.join(best[0])}; in the greatest: {', '.join(best[1])}. ROD is at most "
                f"{near[0]:.2f} and {near[1]:.2f} times the best up to x3.5.",
                holds=all(one[i] == "ROD" for one in best for i in range(4)),
            ),
            Claim(
                paper="At x4 all but ROD run out of memory (no memory limit is given).",
                ours="Mean latency at x4, ms: " + "; ".join(f"{n} {found[n][-1, 0]:.0f}" for n in NAMES) + ".",
                holds=best[0][-1] == "ROD",
            ),
        ],
        "figures 6.12, 6.13",
    )
    page.draw(
        [
            Panel(
                title=title,
                x_label="rate multiplier",
                y_label="ms",
                x=MULTIPLIERS,
                lines={n: found[n][:, column].tolist() for n in NAMES},
                log_y=True,
            )
            for column, title in ((0, "6.12: mean latency"), (1, "6.13: greatest latency"))
        ],
        columns=2,
    )


if __name__ == "__main__":
    main()
