"""Figures 6.8 to 6.11 of the dissertation on load distribution: clustering for communication CPU and bandwidth.

Run with `python -m benchmarks.figures.rod_network`. All operators cost the same and let everything through; numbers of
operators are not given in the dissertation (25, 50, 100 here). What enters from outside costs no bandwidth.
"""

from __future__ import annotations

import numpy as np
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import piece
from benchmarks.query_trees import MS_PER_S, Trees, random_rates, random_trees

from streamjob_planners.rod.baselines import connected
from streamjob_planners.rod.clustered import clustered_rod, set_size
from streamjob_planners.rod.feasible import feasible_ratio
from streamjob_planners.rod.network import Network, all_planes
from streamjob_planners.rod.placing import rod

N_NODES, N_INPUTS, GRAPHS, CONNECTED_RUNS = 10, 5, 3, 10
SIZES = (25, 50, 100)
COSTS = (0.0, 0.25, 0.5, 0.75, 1.0)
BANDWIDTHS = (0.2, 0.8, 1.0, 2.0, 10.0)
NODE_MBPS, ALL_MBPS = 100.0, 1000.0
POINTS_LOG2 = 12
HOW = ((0, " operators"), (1, ", by set size"))
"""As published the sweep keeps the plan whose nearest plane is farthest; ours can keep the one with the largest set."""


def network_of(trees: Trees, cost: float, bandwidth: float) -> Network:
    """Streams whose tuples cost `cost` of an operator's CPU, and fill a node's link `bandwidth` times as fast as it."""
    rate = trees.output[trees.ends[:, 0]]
    megabits = bandwidth * NODE_MBPS / MS_PER_S / 2  # one stream in and one out per millisecond of CPU
    return Network(
        ends=trees.ends,
        cpu=cost * rate,
        bytes=megabits * rate,
        node_limit=np.full(N_NODES, NODE_MBPS if bandwidth else np.inf),
        total_limit=ALL_MBPS if bandwidth else np.inf,
    )


@piece
def sets(n_operators: int, cost: float, bandwidth: float, graphs: int) -> list[float]:
    """Mean feasible set over graphs: clustered ROD by the nearest plane, by the size of the set, ROD, Connected."""
    found = []
    for seed in range(graphs):
        trees = random_trees(n_operators, N_INPUTS, N_NODES, 200 + seed, alike=True)
        network, rng = network_of(trees, cost, bandwidth), np.random.default_rng(seed)
        near = [connected(trees.model, random_rates(trees.model, rng), trees.links) for _ in range(CONNECTED_RUNS)]
        ours = [clustered_rod(trees.model, network, judge=judge) for judge in (None, set_size())]
        plans = [*ours, rod(trees.model), *near]
        kept = [feasible_ratio(all_planes(trees.model, network, one), points_log2=POINTS_LOG2) for one in plans]
        found.append([*kept[:3], float(np.mean(kept[3:]))])
    means: list[float] = np.mean(found, axis=0).tolist()
    return means


def main() -> None:
    """Prints and draws the figures."""
    quick = arguments(__doc__ or "").quick
    graphs, sizes = (1, SIZES[:2]) if quick else (GRAPHS, SIZES)
    page, panels = Page("rod_network"), []
    for numbers, name, values in (
        (("6.8", "6.9"), "communication / processing cost", COSTS),
        (("6.10", "6.11"), "bandwidth / CPU use", BANDWIDTHS),
    ):
        is_cost = values is COSTS
        found = {m: [sets(m, v if is_cost else 0.0, 0.0 if is_cost else v, graphs) for v in values] for m in sizes}
        plain, near = (
            {f"{m}{how}": [one[i] / max(one[other], 1e-4) for one in found[m]] for m in sizes for i, how in HOW}
            for other in (2, 3)
        )
        for number, what, lines in zip(numbers, ("plain ROD", "Connected"), (plain, near), strict=True):
            print(f"\nFigure {number}: clustered ROD's feasible set over that of {what}")
            table((name, *lines), [[v, *(lines[n][i] for n in lines)] for i, v in enumerate(values)])
            x = [float(i) for i in range(len(values))]
            label = f"{name}: {', '.join(map(str, values))}"
            panels.append(
                Panel(title=f"{number}: / {what}", x_label=label, y_label="ratio", x=x, lines=lines, log_y=True)
            )
        (_cost_claims if is_cost else _bandwidth_claims)(page, plain, near)
    page.draw(panels, columns=4)


def _told(lines: dict[str, list[float]]) -> str:
    return "; ".join(f"{n}: {', '.join(f'{x:.2f}' for x in v)}" for n, v in lines.items()) + "."


def _by(how: str, lines: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: values for name, values in lines.items() if name.endswith(how)}


def _cost_claims(page: Page, plain: dict, near: dict) -> None:
    for _, how in HOW:
        ours, theirs = _by(how, plain), _by(how, near)
        firsts = [v[0] for v in theirs.values()]
        page.claims(
            [
                Claim(
                    paper="Clustering pays the more, the dearer communication is.",
                    ours=_told(ours),
                    holds=all(v[-1] > 1.0 and v[-1] >= v[1] and min(v) > 0.98 for v in ours.values()),
                ),
                Claim(
                    paper="Always better than Connected, increasingly with more operators per input.",
                    ours=_told(theirs),
                    holds=min(min(v) for v in theirs.values()) > 1.0 and firsts == sorted(firsts),
                ),
            ],
            "figures 6.8, 6.9" + ("" if how == HOW[0][1] else how),
        )


def _bandwidth_claims(page: Page, plain: dict, near: dict) -> None:
    for _, how in HOW:
        ours, theirs = _by(how, plain), _by(how, near)
        page.claims(
            [
                Claim(
                    paper="The same at 0.2 and 0.8, better at 1, much better at 2 and 10.",
                    ours=_told(ours),
                    holds=all(min(v[:2]) > 0.98 and v[2] >= 1 and v[3] > 1.2 and v[4] > 1.2 for v in ours.values()),
                ),
                Claim(
                    paper="Always better than Connected.",
                    ours=_told(theirs),
                    holds=min(min(v) for v in theirs.values()) > 1.0,
                ),
            ],
            "figures 6.10, 6.11" + ("" if how == HOW[0][1] else how),
        )


if __name__ == "__main__":
    main()
