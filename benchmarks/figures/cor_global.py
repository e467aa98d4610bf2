"""Figures 6.14 to 6.17 and table 6.3 of the dissertation on load distribution: the three global algorithms.

Run with `python -m benchmarks.figures.cor_global`.
"""

from __future__ import annotations

import numpy as np
from benchmarks.figures.cor_policies import GLOBAL, latency, repeated
from benchmarks.figures.report import Claim, Page, Panel, arguments, table

LOADS = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
FIRST, LATER = 0.5, 0.8


def main() -> None:
    """Prints and draws the figures."""
    quick = arguments(__doc__ or "").quick
    seeds, loads = (2, LOADS[2::2]) if quick else (5, LOADS)
    page = Page("cor_global")
    found = {name: [repeated(seeds, name, None, load=load) for load in loads] for name in GLOBAL}
    ratio = {name: [latency(one) for one in outcomes] for name, outcomes in found.items()}
    spread = {name: [_mean(one, "node_sd") for one in outcomes] for name, outcomes in found.items()}
    spread["MINIMUM"] = [_mean(one, "minimum_sd") for one in found["COR-GLB"]]
    together = {name: float(np.mean([_mean(one, "correlation") for one in all_])) for name, all_ in found.items()}
    print("Figure 6.14: latency ratio over the system load level")
    table(("load", *ratio), [[load, *(ratio[n][i] for n in ratio)] for i, load in enumerate(loads)])
    print("\nFigure 6.15: mean standard deviation of the nodes' load")
    rows = [[load, *(f"{spread[n][i]:.3f}" for n in spread)] for i, load in enumerate(loads)]
    table(("load", *spread), rows)
    print("\nTable 6.3: mean correlation of two nodes")
    table(tuple(together), [list(together.values())])
    rise = {n: repeated(seeds, n, "LLF-BAL", load=FIRST, later_load=LATER) for n in GLOBAL}
    later = {n: [latency(one), float(np.mean([o.moved[1:].sum() for o in one]))] for n, one in rise.items()}
    print(f"\nFigures 6.16, 6.17: load level {FIRST} to {LATER}, then LLF-BAL: latency ratio, load moved (nodes)")
    table(("", "latency ratio", "load moved"), [[n, *values] for n, values in later.items()])
    _claims(page, loads, ratio, spread, together, later)
    bars = {n: [v[0]] for n, v in later.items()}
    moved = {n: [v[1]] for n, v in later.items()}
    page.draw(
        [
            Panel(title="6.14", x_label="system load level", y_label="latency ratio", x=loads, lines=ratio, log_y=True),
            Panel(title="6.15", x_label="system load level", y_label="load sd", x=loads, lines=spread),
            Panel(title="6.16", x_label="load 0.5 to 0.8", y_label="latency ratio", x=[1.0], lines=bars),
            Panel(title="6.17", x_label="load 0.5 to 0.8", y_label="load moved, nodes", x=[1.0], lines=moved),
        ],
        columns=4,
    )


def _mean(outcomes: list, name: str) -> float:
    """Mean over seeds and over the seconds in which the windows know nothing but the new placement."""
    return float(np.mean([getattr(one, name)[12:].mean() for one in outcomes]))


def _claims(page: Page, loads: tuple, ratio: dict, spread: dict, together: dict, later: dict) -> None:
    page.claims(_latencies(loads, ratio), "figure 6.14")
    page.claims(_spreads(spread), "figure 6.15")
    page.claims(_correlations(together), "table 6.3")
    page.claims(_after_a_rise(later), "figures 6.16, 6.17")


def _latencies(loads: tuple, ratio: dict) -> list[Claim]:
    """Figure 6.14."""
    at = [i for i, load in enumerate(loads) if load >= 0.6]
    lead = [min(ratio["RAND-GLB"][i], ratio["LLF-GLB"][i]) / ratio["COR-GLB"][i] for i in at]
    return [
        Claim(
            paper="COR-GLB performs much better; below a load level of 0.5 it does not seem to matter which.",
            ours=f"The better of the others over COR-GLB from 0.6 up: {', '.join(f'{x:.1f}' for x in lead)}; at "
            f"{loads[0]}: {min(ratio['RAND-GLB'][0], ratio['LLF-GLB'][0]) / ratio['COR-GLB'][0]:.2f}.",
            holds=min(lead) > 1.15 and max(lead) > 2.0,
        )
    ]


def _spreads(spread: dict) -> list[Claim]:
    """Figure 6.15."""
    least = spread["MINIMUM"]
    above = [a / b for a, b in zip(spread["COR-GLB"], least, strict=True)]
    others = [min(a, b) / c for a, b, c in zip(spread["RAND-GLB"], spread["LLF-GLB"], least, strict=True)]
    return [
        Claim(
            paper="COR-GLB's load variance is much smaller than the others' and very close to the minimum.",
            ours="Standard deviation over the minimum, by load level: COR-GLB "
            f"{', '.join(f'{x:.2f}' for x in above)}; the better of the others "
            f"{', '.join(f'{x:.2f}' for x in others)} (close: not half as far above it as the others).",
            holds=all(a - 1 < 0.5 * (b - 1) for a, b in zip(above, others, strict=True)),
        )
    ]


def _correlations(together: dict) -> list[Claim]:
    """Table 6.3."""
    return [
        Claim(
            paper="Correlations of RAND-GLB and LLF-GLB are around zero, that of COR-GLB is large (values lost).",
            ours="; ".join(f"{n} {v:.2f}" for n, v in together.items()) + ".",
            holds=together["COR-GLB"] > 0.4 and max(abs(together[n]) for n in ("RAND-GLB", "LLF-GLB")) < 0.25,
        )
    ]


def _after_a_rise(later: dict) -> list[Claim]:
    """Figures 6.16 and 6.17."""
    best, others = later["COR-GLB"], ("RAND-GLB", "LLF-GLB")
    return [
        Claim(
            paper="After a rise of the load COR-GLB has the lowest latency ratio.",
            ours="; ".join(f"{n} {v[0]:.1f}" for n, v in later.items()) + ".",
            holds=all(best[0] < later[n][0] for n in others),
        ),
        *(
            Claim(
                paper=f"Less load is moved after COR-GLB than after {n} (our reading of: naturally balanced).",
                ours=f"{best[1]:.2f} nodes against {later[n][1]:.2f}.",
                holds=best[1] < later[n][1],
            )
            for n in others
        ),
    ]


if __name__ == "__main__":
    main()
