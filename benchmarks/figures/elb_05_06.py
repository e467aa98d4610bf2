"""Table 2, figures 5 and 6 of the stateful load balancing paper: latency and speedup while an operator is scaled out.

Run with `python -m benchmarks.figures.elb_05_06`.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import piece
from benchmarks.stateful import streams
from benchmarks.stateful.latency import MOST_INSTANCES, joined, scaled_out
from benchmarks.stateful.policies import Clb, Elb, Pkg, Uhlb

SEED = 1
SYSTEMS = {"ELB": Elb, "CLB": Clb, "UHLB": Uhlb, "PKG": Pkg}
"""CLB with theta 0: with the threshold that gives figure 2's levels one instance holds most tuples, and drowns."""
NEW, OLD = ("ELB", "CLB"), ("PKG", "UHLB")


def main() -> None:
    """Prints table 2 and statements, draws figures 5 and 6."""
    n_seeds = 1 if arguments(__doc__ or "").quick else 3
    found = {name: _latency(name, n_seeds) for name in SYSTEMS}
    print(f"\ntable 2: latency in ms, seeds {SEED} to {n_seeds}")
    rows = [[name, *(1e3 * v for v in (one.mean_s, one.p95_s, one.longest_s))] for name, one in found.items()]
    table(("system", "mean", "95 %", "max"), rows)
    first = found["CLB"].means_s[0]
    ratio = {name: [first / mean_s for mean_s in one.means_s] for name, one in found.items()}
    speedup = {name: [n * value for n, value in enumerate(values, 1)] for name, values in ratio.items()}
    page = Page("elb_05_06")
    page.claims(_table_2(found), f"table 2, seeds {SEED}-{n_seeds}")
    page.claims(_swings(ratio), "figure 5")
    page.claims(_speedups(speedup), "figure 6")
    speedup["Ideal"] = [float(n) for n in range(1, MOST_INSTANCES + 1)]
    page.draw(
        [
            Panel(title="figure 5: CLB's mean latency at n = 1 / mean at n", x_label="n", y_label="ratio", lines=ratio),
            Panel(title="figure 6: speedup of throughput", x_label="n", y_label="speedup", lines=speedup),
        ],
        columns=2,
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Seconds: means by number of instances, 1 to 15, and mean, 95th percentile and largest of all tuples."""

    means_s: list[float]
    mean_s: float
    p95_s: float
    longest_s: float


@piece
def _latency(name: str, n_seeds: int) -> Latency:
    """Of seeds from SEED on."""
    each = [
        scaled_out(SYSTEMS[name](1, np.random.default_rng(seed)), streams.words(np.random.default_rng(seed)))
        for seed in range(SEED, SEED + n_seeds)
    ]
    by_n = [joined([run[n] for run in each]) for n in range(1, MOST_INSTANCES + 1)]
    all_of_them = joined(by_n)
    return Latency(
        means_s=[waits.mean_s for waits in by_n],
        mean_s=all_of_them.mean_s,
        p95_s=all_of_them.percentile_s(95),
        longest_s=float(all_of_them.latency_s.max()),
    )


def _table_2(found: dict[str, Latency]) -> list[Claim]:
    mean = {name: 1e3 * one.mean_s for name, one in found.items()}
    p95 = max(1e3 * one.p95_s for one in found.values())
    longest = max(one.longest_s for one in found.values())
    cut = {
        name: (1 - mean[name] / max(mean[old] for old in OLD), 1 - mean[name] / min(mean[old] for old in OLD))
        for name in NEW
    }
    told = ", ".join(f"{name} {value:.2f} ms" for name, value in mean.items())
    return [
        Claim(
            paper="Most tuples have a latency below 1.89 ms (95 %), the largest up to 1.5 s.",
            ours=f"95 %: at most {p95:.2f} ms; the largest {longest:.2f} s.",
            holds=p95 < 1.89 and longest <= 1.6,
        ),
        Claim(
            paper="Mean latency below the existing solutions', CLB's the least (17 %), ELB's the most (50 %).",
            ours="; ".join(f"{n} {100 * worse:.0f} and {100 * better:.0f} %" for n, (worse, better) in cut.items())
            + f" below the worse and the better of PKG and UHLB ({told}).",
            holds=all(value > 0 for both in cut.values() for value in both),
        ),
    ]


def _swings(ratio: dict[str, list[float]]) -> list[Claim]:
    """By how much the ratio changes from n to n + 1, over what it is: with long latencies it is small."""
    steps = {name: float(np.abs(np.diff(np.log(values[1:]))).mean()) for name, values in ratio.items()}
    return [
        Claim(
            paper=f"{old} fluctuates more severely than {new}.",
            ours=f"Mean relative change from n to n + 1: {steps[old]:.0%} and {steps[new]:.0%}.",
            holds=steps[old] > steps[new],
        )
        for old in OLD
        for new in NEW
    ]


def _speedups(speedup: dict[str, list[float]]) -> list[Claim]:
    last = {name: values[-1] for name, values in speedup.items()}
    told = ", ".join(f"{name} {value:.1f}" for name, value in last.items())
    return [
        Claim(
            paper="ELB and CLB are approximately linear.",
            ours=f"At n = 15: {told}.",
            holds=min(last[name] for name in NEW) > 7.5,
        ),
        Claim(
            paper="PKG and UHLB rise in steps and stay below ELB and CLB (but for CLB at the end).",
            ours=f"Sums over n: {', '.join(f'{name} {sum(values):.0f}' for name, values in speedup.items())}.",
            holds=max(sum(speedup[name]) for name in OLD) < min(sum(speedup[name]) for name in NEW),
        ),
        Claim(
            paper="At n = 15 ELB, PKG and UHLB outperform CLB.",
            ours=f"At n = 15: {told}.",
            holds=last["CLB"] == min(last.values()),
        ),
    ]


if __name__ == "__main__":
    main()
