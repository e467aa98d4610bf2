"""Figures 6.16 and 6.17 of the dissertation on load distribution, with every chain's rate drawn anew at the rise.

Run with `python -m benchmarks.figures.cor_rise`. In `cor_global` all rates grow alike, so that what was balanced stays
so and nearly nothing needs to move.
"""

from __future__ import annotations

import numpy as np
from benchmarks.figures.cor_policies import GLOBAL, latency, repeated
from benchmarks.figures.report import Claim, Page, Panel, arguments, table

FIRST, LATER = 0.5, 0.8


def main() -> None:
    """Prints and draws the figures."""
    seeds, page = 2 if arguments(__doc__ or "").quick else 5, Page("cor_rise")
    rise = {n: repeated(seeds, n, "LLF-BAL", load=FIRST, later_load=LATER, redrawn=True) for n in GLOBAL}
    ratio = {n: latency(one) for n, one in rise.items()}
    moved = {n: float(np.mean([o.moved.sum() for o in one])) for n, one in rise.items()}
    table(("", "latency ratio", "load moved"), [[n, ratio[n], moved[n]] for n in rise])
    told = "; ".join(f"{n} {ratio[n]:.1f}, {moved[n]:.2f} nodes" for n in rise)
    page.claims(
        [
            Claim(
                paper="After the rise COR-GLB has the lowest latency ratio.",
                ours=f"Latency ratio and load moved: {told}.",
                holds=min(ratio, key=lambda n: ratio[n]) == "COR-GLB",
            ),
            Claim(
                paper="The least load is moved after COR-GLB.",
                ours=f"{'; '.join(f'{n} {v:.2f} nodes' for n, v in moved.items())}.",
                holds=min(moved, key=lambda n: moved[n]) == "COR-GLB",
            ),
        ],
        "figures 6.16, 6.17, rates drawn anew",
    )
    panels = [
        Panel(title=title, x_label="load 0.5 to 0.8", y_label=label, x=[1.0], lines={n: [v] for n, v in values.items()})
        for title, label, values in (("6.16", "latency ratio", ratio), ("6.17", "load moved, nodes", moved))
    ]
    page.draw(panels, columns=2)


if __name__ == "__main__":
    main()
