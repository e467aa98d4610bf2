"""Figure 6.22 of the dissertation on load distribution: global and pair-wise algorithms together on bursty loads.

Run with `python -m benchmarks.figures.cor_bursts`.
"""

from __future__ import annotations

from benchmarks.figures.cor_policies import latency, repeated
from benchmarks.figures.report import Claim, Page, Panel, arguments, table

BURSTY_LOADS = (0.5, 0.6, 0.7, 0.8)
COMBINED = (("COR-GLB", "COR-SE-IMP"), ("COR-GLB", "COR-RE-IMP"), ("LLF-GLB", "LLF-BAL"), ("RAND-GLB", "RAND-BAL"))


def main() -> None:
    """Prints and draws the figure."""
    quick = arguments(__doc__ or "").quick
    seeds, page = 1 if quick else 3, Page("cor_bursts")
    loads = BURSTY_LOADS[1::2] if quick else BURSTY_LOADS
    lines = {
        second.replace("-", "-GLB-", 1): [
            latency(repeated(seeds, first, second, load=load, bursty=True)) for load in loads
        ]
        for first, second in COMBINED
    }
    print("\nFigure 6.22: latency ratio under bursty loads")
    table(("load", *lines), [[load, *(lines[n][i] for n in lines)] for i, load in enumerate(loads)])
    _bursts(page, lines)
    page.draw(
        [Panel(title="6.22", x_label="system load level", y_label="latency ratio", x=loads, lines=lines, log_y=True)],
        columns=1,
    )


def _bursts(page: Page, lines: dict[str, list[float]]) -> None:
    best = [min(lines, key=lambda n, i=i: lines[n][i]) for i in range(len(lines["COR-GLB-SE-IMP"]))]
    page.claims(
        [
            Claim(
                paper="The correlation-based algorithms remain the best under bursty loads.",
                ours=f"Best by load level: {', '.join(best)}.",
                holds=all(name.startswith("COR") for name in best),
            )
        ],
        "figure 6.22",
    )


if __name__ == "__main__":
    main()
