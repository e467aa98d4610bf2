"""Figures 4.5, 4.7, 6.6, 6.7 and table 6.1 of the dissertation on load distribution: distances and lower bounds.

Run with `python -m benchmarks.figures.rod_bounds`.
"""

from __future__ import annotations

import math

import numpy as np
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import Array, piece
from benchmarks.query_trees import random_trees

from streamjob_planners.rod.distance import axis_distances, ideal_plane_distance, plane_distances
from streamjob_planners.rod.feasible import feasible_ratio
from streamjob_planners.rod.placing import rod

N_NODES, N_INPUTS, SEED = 10, 3, 1
MATRICES, POINTS_LOG2 = 10_000, 10
OPERATORS, BOUND_INPUTS, BOUNDS = (25, 50, 100, 200), 5, 400
PAPER = {"origin": (0.90, 0.79, 0.56, 0.35), "wrong Z": (0.89, 0.83, 0.55, 0.32)}


@piece
def matrices(count: int) -> tuple[Array, Array, Array]:
    """g, r / r* and the feasible set ratio of random weight matrices, ascending in each own use.

    Each input's load is shared out over the nodes by a Dirichlet law; its parameter is drawn too (0.3 to 300, evenly in
    logarithms), so that matrices are anything from hopeless to ideal.
    """
    rng = np.random.default_rng(SEED)
    found = np.zeros((3, count))
    for i in range(count):
        evenness = np.exp(rng.uniform(math.log(0.3), math.log(300.0)))
        weights = N_NODES * rng.dirichlet(np.full(N_NODES, evenness), N_INPUTS).T
        found[0, i] = axis_distances(weights).prod()
        found[1, i] = plane_distances(weights).min() / ideal_plane_distance(N_INPUTS)
        found[2, i] = feasible_ratio(weights, points_log2=POINTS_LOG2)
    return found[0], found[1], found[2]


def hypersphere(ratio: np.ndarray) -> np.ndarray:
    """Lower bound of section 4.2.2: the part of a ball of radius r in the positive orthant over the ideal simplex."""
    d = N_INPUTS
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1) / 2**d
    return ball * (ratio * ideal_plane_distance(d)) ** d * math.factorial(d)


def envelope(x: np.ndarray, y: np.ndarray, top: bool) -> list[float]:
    """Greatest or least ratio in each tenth of the values of x."""
    order = np.argsort(x)
    return [float(part.max() if top else part.min()) for part in np.array_split(y[order], 10)]


@piece
def penalties(n_operators: int, count: int, volume: bool) -> dict[str, Array]:
    """Rows of x and penalty: for assuming the origin, and for assuming a wrong bound Z.

    Bounds are uniform in the volume of the ideal set, nearly all of which is next to the ideal plane in five
    dimensions; or in a random direction, evenly far from the origin, as figure 6.6 needs, whose axis goes from 0 to 1.
    Graphs change with every bound: one graph has one plan for the origin, and its luck would decide.
    """
    rng = np.random.default_rng(SEED)
    rows = np.zeros((4, count))
    for i in range(count):
        model = random_trees(n_operators, BOUND_INPUTS, N_NODES, 1000 + i % 20).model
        length = rng.uniform(size=2) ** (1 / BOUND_INPUTS if volume else 1.0)
        real, assumed = length[:, None] * rng.dirichlet(np.ones(BOUND_INPUTS), 2)
        best = feasible_ratio(model.node_weights(rod(model, real)), real, POINTS_LOG2)
        plain = feasible_ratio(model.node_weights(rod(model)), real, POINTS_LOG2)
        wrong = feasible_ratio(model.node_weights(rod(model, assumed)), real, POINTS_LOG2)
        rows[:, i] = 1 - real.sum(), _penalty(best, plain), np.linalg.norm(real - assumed), _penalty(best, wrong)
    return {"left": rows[0], "origin": rows[1], "apart": rows[2], "wrong Z": rows[3]}


def _penalty(best: float, other: float) -> float:
    """Not a number where even the plan that knows the bound keeps nothing."""
    return (best - other) / best if best > 0 else math.nan


def main() -> None:
    """Prints and draws the figures."""
    quick = arguments(__doc__ or "").quick
    page = Page("rod_bounds")
    g, r, kept = matrices(MATRICES // (10 if quick else 1))
    count = BOUNDS // (10 if quick else 1)
    found = {m: penalties(m, count, volume=False) for m in OPERATORS}
    dense = {m: penalties(m, count, volume=True) for m in OPERATORS}
    means = {name: [float(np.nanmean(found[m][name])) for m in OPERATORS] for name in PAPER}
    means |= {f"{name}, by volume": [float(np.nanmean(dense[m][name])) for m in OPERATORS] for name in PAPER}
    print("Table 6.1: average penalty")
    table(("operators", *map(str, OPERATORS)), [[name, *values] for name, values in means.items()])
    for name, values in PAPER.items():
        print(f"  the paper, {name}: {values}")
    _claims(page, g, r, kept, found, means)
    page.draw(_panels(g, r, kept, found[50]), columns=4)


def _claims(page: Page, g: np.ndarray, r: np.ndarray, kept: np.ndarray, found: dict, means: dict) -> None:
    page.claims(_bounds(g, r, kept), "figures 4.5, 4.7")
    page.claims(_penalties(found), "figures 6.6, 6.7")
    page.claims([_penalty_claim(name, means) for name in PAPER], "table 6.1")


def _bounds(g: np.ndarray, r: np.ndarray, kept: np.ndarray) -> list[Claim]:
    """Figures 4.5 and 4.7."""
    rising = [envelope(x, kept, top) for x in (g, r) for top in (True, False)]
    under = float((kept < g - 0.02).mean()), float((kept < hypersphere(r) - 0.02).mean())
    return [
        Claim(
            paper="Both the upper and the lower bound of the feasible set rise with g, and with r / r*.",
            ours=f"Lower envelope by tenths of g {rising[1][0]:.2f} to {rising[1][-1]:.2f}, of r/r* "
            f"{rising[3][0]:.2f} to {rising[3][-1]:.2f}; upper {rising[0][0]:.2f} to {rising[0][-1]:.2f}, "
            f"{rising[2][0]:.2f} to {rising[2][-1]:.2f}.",
            holds=all((np.diff(one) > -0.03).all() and one[-1] > one[0] for one in rising),
        ),
        Claim(
            paper="The lower bound is linear in g, and close to r to the power d.",
            ours=f"Below g: {under[0]:.2%} of the matrices, below the part of the ball: {under[1]:.2%}; the "
            f"nearest are {float((kept - g).min()):+.3f} and {float((kept - hypersphere(r)).min()):+.3f} away.",
            holds=max(under) == 0.0,
        ),
    ]


def _penalties(found: dict) -> list[Claim]:
    """Figures 6.6 and 6.7."""
    fifty = found[50]
    near = [_halves(fifty[x], fifty[y]) for x, y in (("left", "origin"), ("apart", "wrong Z"))]
    return [
        Claim(
            paper="The penalty of assuming the origin is large near the ideal plane and falls towards the origin.",
            ours=f"Mean penalty of the nearer half {near[0][0]:.2f}, of the farther half {near[0][1]:.2f}.",
            holds=near[0][0] > near[0][1] + 0.1,
        ),
        Claim(
            paper="The penalty of a wrong bound grows with its distance, until about 4.",
            ours=f"Mean penalty of the nearer half {near[1][0]:.2f}, of the farther half {near[1][1]:.2f}; the "
            f"greatest distance here is {fifty['apart'].max():.2f}: in the normalised set it cannot pass 1.41.",
            holds=near[1][1] > near[1][0],
        ),
    ]


def _penalty_claim(name: str, means: dict) -> Claim:
    evenly, volume = np.array(means[name]), np.array(means[f"{name}, by volume"])
    between = bool(((evenly - 0.05 <= PAPER[name]) & (volume + 0.05 >= PAPER[name])).all())
    return Claim(
        paper=f"Average penalty at 25, 50, 100, 200 operators, {name}: {', '.join(map(str, PAPER[name]))}; falling.",
        ours=f"Bounds evenly far: {', '.join(f'{v:.2f}' for v in evenly)}; uniform in the volume: "
        f"{', '.join(f'{v:.2f}' for v in volume)}. The paper's lie between: {'yes' if between else 'no'}; both fall "
        "from 50 operators on.",
        holds=between and bool((np.diff(evenly[1:]) < 0).all() and (np.diff(volume[1:]) < 0).all()),
    )


def _halves(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Means of y below and above the median of x."""
    below = x <= np.median(x)
    return float(np.nanmean(y[below])), float(np.nanmean(y[~below]))


def _panels(g: np.ndarray, r: np.ndarray, kept: np.ndarray, fifty: dict) -> list[Panel]:
    by_g, by_r = np.argsort(g), np.argsort(r)
    size = "feasible set / ideal"
    return [
        Panel(
            title="4.5: 10,000 random matrices",
            x_label="g",
            y_label=size,
            x=g[by_g].tolist(),
            lines={"matrices": kept[by_g].tolist(), "g": g[by_g].tolist()},
            dots=frozenset({"matrices"}),
        ),
        Panel(
            title="4.7: the same matrices",
            x_label="r / r*",
            y_label=size,
            x=r[by_r].tolist(),
            lines={"matrices": kept[by_r].tolist(), "part of a ball": hypersphere(r[by_r]).tolist()},
            dots=frozenset({"matrices"}),
        ),
        Panel(
            title="6.6: assuming the origin, 50 operators",
            x_label="(B to ideal) / (origin to ideal)",
            y_label="penalty",
            x=fifty["left"].tolist(),
            lines={"runs": fifty["origin"].tolist()},
            dots=frozenset({"runs"}),
        ),
        Panel(
            title="6.7: assuming Z, 50 operators",
            x_label="dist(B, Z)",
            y_label="penalty",
            x=fifty["apart"].tolist(),
            lines={"runs": fifty["wrong Z"].tolist()},
            dots=frozenset({"runs"}),
        ),
    ]


if __name__ == "__main__":
    main()
