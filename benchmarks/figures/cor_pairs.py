"""Figures 6.18 to 6.20 of the dissertation on load distribution: the pair-wise algorithms from a connected start.

Run with `python -m benchmarks.figures.cor_pairs`.
"""

from __future__ import annotations

import numpy as np
from benchmarks.figures.cor_policies import latency, repeated
from benchmarks.figures.report import Claim, Page, Panel, arguments, table

LOADS = (0.5, 0.6, 0.7, 0.8, 0.9)
ONE_WAY = ("COR-BAL", "RAND-BAL", "LLF-BAL")
TWO_WAY = ("COR-RE-IMP", "COR-SE-IMP")
TOP = 0.9


def main() -> None:
    """Prints and draws the figures."""
    quick = arguments(__doc__ or "").quick
    seeds, loads = (2, LOADS[2::2]) if quick else (5, LOADS)
    page = Page("cor_pairs")
    found = {n: [repeated(seeds, None, n, load=load, connected=True) for load in loads] for n in (*ONE_WAY, *TWO_WAY)}
    found["COR-GLB"] = [repeated(seeds, "COR-GLB", None, load=load, connected=True) for load in loads]
    ratio = {name: [latency(one) for one in outcomes] for name, outcomes in found.items()}
    print("Figures 6.18, 6.19: latency ratio over the system load level")
    table(("load", *ratio), [[load, *(ratio[n][i] for n in ratio)] for i, load in enumerate(loads)])
    over = {n: found[n][-1] for n in (*TWO_WAY, "COR-GLB", "COR-BAL")}
    time = {n: [_over_time(outcomes, what) for what in WHAT] for n, outcomes in over.items()}
    print(f"\nFigure 6.20, load {TOP}: load moved in all (nodes), node sd, correlation, latency ratio at the end")
    table(("", "moved", "sd", "correlation", "late latency"), [[n, *_ends(v)] for n, v in time.items()])
    _claims(page, ratio, time, found)
    page.draw(_panels(loads, ratio, time), columns=3)


WHAT = ("latency_s", "moved", "node_sd", "correlation")


def _over_time(outcomes: list, what: str) -> np.ndarray:
    """Mean over the seeds; load moved adds up."""
    values = np.mean([getattr(one, what) for one in outcomes], axis=0)
    return np.cumsum(values) if what == "moved" else values


def _ends(series: list[np.ndarray]) -> list[float]:
    late, moved, spread, together = series
    return [float(moved[-1]), *(float(s[-60:].mean()) for s in (spread, together)), float(late[-60:].mean() / 0.01)]


def _claims(page: Page, ratio: dict, time: dict, found: dict) -> None:
    page.claims(_one_way(ratio, found), "figure 6.18")
    page.claims(_two_way(ratio), "figure 6.19")
    page.claims(_at_the_top(ratio, time), "figure 6.20")


def _one_way(ratio: dict, found: dict) -> list[Claim]:
    """Figure 6.18."""
    high = range(len(ratio["COR-BAL"]))
    best = [min(ONE_WAY, key=lambda n, i=i: ratio[n][i]) for i in high]
    moved = {n: float(np.mean([o.moved.sum() for level in found[n] for o in level])) for n in ONE_WAY}
    return [
        Claim(
            paper="COR-BAL is the best of the one-way algorithms.",
            ours=f"Best by load level: {', '.join(best)}.",
            holds=set(best) == {"COR-BAL"},
        ),
        Claim(
            paper="The amount of load that the three move is almost the same.",
            ours="Mean load moved, nodes: " + "; ".join(f"{n} {v:.2f}" for n, v in moved.items()) + ".",
            holds=max(moved.values()) <= 1.5 * min(moved.values()),
        ),
        Claim(
            paper="All three are much worse than COR-GLB.",
            ours="COR-BAL over COR-GLB: "
            + ", ".join(f"{a / b:.1f}" for a, b in zip(ratio["COR-BAL"], ratio["COR-GLB"], strict=True))
            + ".",
            holds=all(a > 1.3 * b for a, b in zip(ratio["COR-BAL"], ratio["COR-GLB"], strict=True)),
        ),
    ]


def _two_way(ratio: dict) -> list[Claim]:
    """Figure 6.19."""
    parts = {n: [a / b for a, b in zip(ratio[n], ratio["COR-BAL"], strict=True)] for n in TWO_WAY}
    return [
        Claim(
            paper="COR-RE-IMP and COR-SE-IMP have much smaller latency ratios than COR-BAL.",
            ours="Parts of COR-BAL's: "
            + "; ".join(f"{n} {', '.join(f'{x:.2f}' for x in v)}" for n, v in parts.items())
            + ".",
            holds=all(x < 0.8 for v in parts.values() for x in v),
        )
    ]


def _at_the_top(ratio: dict, time: dict) -> list[Claim]:
    """Figure 6.20."""
    ends = {n: _ends(v) for n, v in time.items()}
    mean = {n: ratio[n][-1] for n in time}
    return [
        Claim(
            paper="COR-RE-IMP moves much more load than COR-SE-IMP.",
            ours="; ".join(f"{n} {ends[n][0]:.1f} nodes" for n in ends) + ".",
            holds=ends["COR-RE-IMP"][0] > 1.5 * ends["COR-SE-IMP"][0],
        ),
        Claim(
            paper="COR-RE-IMP is worse on average than COR-SE-IMP.",
            ours="; ".join(f"{n} {mean[n]:.0f}" for n in mean) + " (latency ratio).",
            holds=mean["COR-RE-IMP"] > mean["COR-SE-IMP"],
        ),
        Claim(
            paper="COR-RE-IMP's final plan is closer to that of the global algorithm.",
            ours="; ".join(f"{n} sd {ends[n][1]:.3f}, correlation {ends[n][2]:.2f}" for n in ends) + ".",
            holds=abs(ends["COR-RE-IMP"][1] - ends["COR-GLB"][1]) <= abs(ends["COR-SE-IMP"][1] - ends["COR-GLB"][1]),
        ),
        Claim(
            paper="COR-GLB moves less load than COR-RE-IMP but performs better.",
            ours=f"{ends['COR-GLB'][0]:.1f} against {ends['COR-RE-IMP'][0]:.1f} nodes; latency ratio "
            f"{mean['COR-GLB']:.0f} against {mean['COR-RE-IMP']:.0f}.",
            holds=ends["COR-GLB"][0] < ends["COR-RE-IMP"][0] and mean["COR-GLB"] < mean["COR-RE-IMP"],
        ),
    ]


def _panels(loads: tuple, ratio: dict, time: dict) -> list[Panel]:
    panels = [
        Panel(
            title=f"{number}: latency ratio",
            x_label="system load level",
            y_label="latency ratio",
            x=loads,
            lines={n: ratio[n] for n in names},
            log_y=True,
        )
        for number, names in (("6.18", (*ONE_WAY, "COR-GLB")), ("6.19", (*TWO_WAY, "COR-BAL", "COR-GLB")))
    ]
    shown = (*TWO_WAY, "COR-GLB")
    labels = ("latency, s", "load moved, nodes", "node load sd", "pair correlation")
    for at, (letter, label) in enumerate(zip("abcd", labels, strict=True)):
        lines = {n: time[n][at].tolist() for n in shown}
        panels.append(
            Panel(title=f"6.20{letter}: load {TOP}", x_label="s after the warm-up", y_label=label, lines=lines)
        )
    return panels


if __name__ == "__main__":
    main()
