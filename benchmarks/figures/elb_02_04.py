"""Figures 2 to 4 and table 1 of the stateful load balancing paper: imbalance and moved state over two hours.

Run with `python -m benchmarks.figures.elb_02_04`.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from benchmarks.figures.report import Claim, Page, Panel, arguments, table
from benchmarks.kept import Array, piece
from benchmarks.stateful import streams
from benchmarks.stateful.policies import CLB_WINDOWS, PAPER_THETA, POLICIES, Clb, Policy, imbalance

from streamjob_planners.model import FloatArray

SIZES = (5, 10, 15)
SEED = 1
KEYS = {"Gaussian": streams.gaussian_keys, "Zipf": streams.zipf_keys}
PAPER_MEAN, PAPER_SD = (2.08983e10, 2.08325e10), (6.76016e8, 7.92797e8)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """var(L_t) and the moved part of the state, window by window, (120,) each."""

    variance: Array
    moved: Array

    def settled(self) -> Array:
        """Without the windows before CLB's first run."""
        return self.variance[CLB_WINDOWS:]

    @property
    def a_run(self) -> float:
        """Percent of the state moved whenever any moved."""
        moving = self.moved[self.moved > 0]
        return 100 * float(moving.mean()) if moving.size else 0.0


def run(policy: Policy, series: FloatArray) -> Run:
    """All windows of one policy."""
    windows = [policy.window(load) for load in series]
    return Run(
        variance=np.array([imbalance(one.load) for one in windows]),
        moved=np.array([one.moved_ratio for one in windows]),
    )


@piece
def clb(stream: str, n_nodes: int, theta: float, seed: int) -> Run:
    """CLB on a stream of keys of that kind."""
    series = streams.poisson(KEYS[stream](), np.random.default_rng(seed))
    return run(Clb(n_nodes, np.random.default_rng(seed), theta=theta), series)


@piece
def on_words(name: str, n_nodes: int) -> Run:
    """A policy on the stand-in for Twitter."""
    return run(POLICIES[name](n_nodes, np.random.default_rng(SEED)), streams.words(np.random.default_rng(SEED)))


def main() -> None:
    """Prints tables and statements, draws figures 2, 3 and 4."""
    quick = arguments(__doc__ or "").quick
    page = Page("elb_02_04")
    page.draw([*_figure_2(page, quick), *_figures_3_4(page, quick)], columns=2)


def _figure_2(page: Page, quick: bool) -> list[Panel]:
    drawn: dict[str, list[float]] = {}
    seeds = range(SEED, SEED + (1 if quick else 5))
    for theta in (0.0, PAPER_THETA):
        rows, wider = [], 0
        for n_nodes in SIZES:
            sds: dict[str, list[float]] = {"Gaussian": [], "Zipf": []}
            means: dict[str, list[float]] = {"Gaussian": [], "Zipf": []}
            for seed in seeds:
                for name in KEYS:
                    one = clb(name, n_nodes, theta, seed)
                    means[name].append(float(one.settled().mean()))
                    sds[name].append(float(one.settled().std()))
                    if (n_nodes, theta, seed) == (10, PAPER_THETA, SEED):
                        drawn[f"{name}-10"] = one.variance.tolist()
            wider += int(np.mean(sds["Zipf"]) > np.mean(sds["Gaussian"]))
            rows += [[n_nodes, name, f"{np.mean(means[name]):.3e}", f"{np.mean(sds[name]):.2e}"] for name in means]
        print(f"\nfigure 2, theta {theta}: CLB's var(L_t) after its first run, mean over seeds {list(seeds)}")
        table(("n", "stream", "mean", "sd"), rows)
        page.claims(
            [_levels(rows[2][2], rows[3][2], theta), _swings(rows, wider)], f"figure 2, theta {theta}, seeds 1-5"
        )
    return [Panel(title="figure 2: CLB, n = 10", x_label="window", y_label="var(L_t)", lines=drawn)]


def _levels(gaussian: object, zipf: object, theta: float) -> Claim:
    ratio = float(str(gaussian)) / float(str(zipf))
    return Claim(
        paper=f"n = 10: mean var(L_t) {PAPER_MEAN[0]:.3e} (Gaussian) and {PAPER_MEAN[1]:.3e} (Zipf): alike.",
        ours=f"theta {theta}: {gaussian} and {zipf}, ratio {ratio:.2f}.",
        holds=0.8 <= ratio <= 1.25,
    )


def _swings(rows: list[list[object]], wider: int) -> Claim:
    return Claim(
        paper=f"Zipf swings wider than Gaussian: sd {PAPER_SD[1]:.2e} against {PAPER_SD[0]:.2e}; 5 and 15 are similar.",
        ours="; ".join(f"n = {rows[i][0]}: {rows[i + 1][3]} against {rows[i][3]}" for i in range(0, len(rows), 2))
        + ".",
        holds=wider == len(SIZES),
    )


def _figures_3_4(page: Page, quick: bool) -> list[Panel]:
    for n_nodes in (10,) if quick else SIZES:
        runs = {name: on_words(name, n_nodes) for name in POLICIES}
        print(f"\ntable 1, n = {n_nodes}: var(L_t) on the stand-in for Twitter, seed {SEED}; percent of state moved")
        table(
            ("system", "mean", "sd", "% a window", "% a run"),
            [_row(name, one) for name, one in runs.items()],
        )
        if n_nodes == 10:
            panels = _panels(runs)
            for clb_name in ("CLB", "CLB, theta 0"):
                _claims(page, runs, clb_name)
    return panels


def _row(name: str, one: Run) -> list[object]:
    held = one.settled()
    return [name, f"{held.mean():.3e}", f"{held.std():.2e}", 100 * float(one.moved[1:].mean()), one.a_run]


def _claims(page: Page, runs: dict[str, Run], clb_name: str) -> None:
    theta = PAPER_THETA if clb_name == "CLB" else 0.0
    ours = {name: runs[clb_name if name == "CLB" else name] for name in ("ELB", "CLB", "UHLB", "PKG")}
    mean = {name: float(one.settled().mean()) for name, one in ours.items()}
    moved = {name: 100 * float(one.moved[1:].mean()) for name, one in ours.items()}
    page.claims(_of_imbalance(mean), f"figure 3 and table 1, n = 10, theta {theta}, seed {SEED}")
    page.claims(_of_moves(moved, ours["CLB"].a_run), f"figure 4, n = 10, theta {theta}, seed {SEED}")


def _of_imbalance(mean: dict[str, float]) -> list[Claim]:
    told = ", ".join(f"{name} {value:.2e}" for name, value in mean.items())
    return [
        Claim(
            paper="UHLB and PKG: imbalance at least ten times below CLB's.",
            ours=f"var(L_t): {told}; CLB is {mean['CLB'] / mean['UHLB']:.1f} times UHLB, "
            f"{mean['CLB'] / mean['PKG']:.0f} times PKG.",
            holds=mean["CLB"] >= 10 * max(mean["UHLB"], mean["PKG"]),
        ),
        Claim(
            paper="UHLB and PKG beat ELB on imbalance.",
            ours=f"ELB is {mean['ELB'] / mean['UHLB']:.2f} times UHLB, {mean['ELB'] / mean['PKG']:.0f} times PKG.",
            holds=mean["ELB"] > max(mean["UHLB"], mean["PKG"]),
        ),
        Claim(
            paper="ELB outperforms CLB on imbalance.",
            ours=f"CLB is {mean['CLB'] / mean['ELB']:.1f} times ELB.",
            holds=mean["ELB"] < mean["CLB"],
        ),
    ]


def _of_moves(moved: dict[str, float], a_run: float) -> list[Claim]:
    return [
        Claim(
            paper="State moved a window: PKG 21.2, UHLB 24.2, ELB 14.5 %: ELB far less than the other two.",
            ours=f"PKG {moved['PKG']:.1f}, UHLB {moved['UHLB']:.1f}, ELB {moved['ELB']:.1f} %.",
            holds=moved["ELB"] < min(moved["PKG"], moved["UHLB"]),
        ),
        Claim(
            paper="CLB: 48.4 % a run, 1.6 % amortised, negligible beside the others.",
            ours=f"{a_run:.1f} % a run, {moved['CLB']:.1f} % amortised.",
            holds=moved["CLB"] < 0.5 * min(moved[name] for name in ("PKG", "UHLB", "ELB")),
        ),
    ]


def _panels(runs: dict[str, Run]) -> list[Panel]:
    names = ("ELB", "UHLB", "PKG", "CLB")
    return [
        Panel(
            title="figure 3: n = 10, stand-in for Twitter",
            x_label="window",
            y_label="var(L_t)",
            lines={name: runs[name].variance.tolist() for name in names},
            log_y=True,
        ),
        Panel(
            title="figure 4: state moved",
            x_label="window",
            y_label="percent",
            lines={name: (100 * runs[name].moved).tolist() for name in names[:3]},
        ),
        Panel(
            title="figure 4: state moved, CLB's amortised",
            x_label="system",
            y_label="percent a window, mean",
            lines={name: [100 * float(runs[name].moved[1:].mean())] for name in names},
        ),
    ]


if __name__ == "__main__":
    main()
