"""Figure 6.21 of the dissertation on load distribution: other parameters than those of table 6.2.

Run with `python -m benchmarks.figures.cor_sensitivity`.
"""

from __future__ import annotations

from benchmarks.figures.cor_policies import latency, repeated
from benchmarks.figures.report import Claim, Page, Panel, arguments, table

LOAD = 0.9
STATIC, DYNAMIC = ("COR-GLB", "LLF-GLB"), ("COR-SE-IMP", "LLF-BAL")
GRIDS: dict[str, tuple] = {
    "n_nodes": (5, 10, 20, 30),
    "per_node": (3, 5, 10, 20),
    "window_s": (5.0, 10.0, 20.0),
    "samples": (5, 10, 20),
    "period_s": (5.0, 10.0, 20.0),
    "high_over_low": (1.0, 2.0, 4.0, 8.0),
}
"""The dissertation's grids are lost with its pictures."""


def by_parameter(name: str, values: tuple, seeds: int, duration_s: int) -> dict[str, list[float]]:
    """Latency ratios of the four algorithms over one parameter; all of them start from random places."""
    lines: dict[str, list[float]] = {n: [] for n in (*STATIC, *DYNAMIC)}
    for value in values:
        setting = {"load": LOAD, "duration_s": duration_s, name: value}
        for n in STATIC:
            lines[n].append(latency(repeated(seeds, n, None, **setting)))
        for n in DYNAMIC:
            lines[n].append(latency(repeated(seeds, None, n, **setting)))
    return lines


def main() -> None:
    """Prints and draws the figure."""
    quick = arguments(__doc__ or "").quick
    seeds = 1 if quick else 2
    page, panels = Page("cor_sensitivity"), []
    found: dict[str, dict[str, list[float]]] = {}
    for name, grid in GRIDS.items():
        values = grid[::2] if quick else grid
        found[name] = by_parameter(name, values, seeds, 120 if quick else 240)
        print(f"\nFigure 6.21: latency ratio over {name}")
        table((name, *found[name]), [[v, *(found[name][n][i] for n in found[name])] for i, v in enumerate(values)])
        x = [float(v) for v in values]
        panels.append(
            Panel(title=f"6.21: {name}", x_label=name, y_label="latency ratio", x=x, lines=found[name], log_y=True)
        )
    _sensitivity(page, found)
    page.draw(panels, columns=3)


def _ahead(lines: dict[str, list[float]]) -> list[float]:
    """LLF's latency ratio over that of its counterpart."""
    return [b / a for cor, llf in (STATIC, DYNAMIC) for a, b in zip(lines[cor], lines[llf], strict=True)]


def _sensitivity(page: Page, found: dict[str, dict[str, list[float]]]) -> None:
    flat = {n: line[:1] for n, line in found["high_over_low"].items()}
    swinging = {n: line[1:] for n, line in found["high_over_low"].items()}
    ahead = {name: _ahead(lines) for name, lines in {**found, "high_over_low": swinging}.items()}
    told = "; ".join(f"{name} {min(v):.1f} to {max(v):.1f}" for name, v in ahead.items())
    told += f"; where nothing fluctuates, high_over_low 1, {' and '.join(f'{v:.2f}' for v in _ahead(flat))}"
    ratios, period = found["high_over_low"], found["period_s"]
    page.claims(
        [
            Claim(
                paper="The correlation-based algorithms stay ahead of LLF over all parameters, but for few operators.",
                ours=f"LLF's latency ratio over that of its counterpart: {told}.",
                holds=all(min(v) > 1.0 for name, v in ahead.items() if name != "per_node"),
            ),
            Claim(
                paper="LLF performs badly where the fluctuation ratio is large or the period long.",
                ours=f"LLF-GLB over ratios {', '.join(f'{v:.0f}' for v in ratios['LLF-GLB'])}, over periods "
                f"{', '.join(f'{v:.0f}' for v in period['LLF-GLB'])}.",
                holds=ratios["LLF-GLB"][-1] > ratios["LLF-GLB"][0] and period["LLF-GLB"][-1] > period["LLF-GLB"][0],
            ),
            Claim(
                paper="They work pretty well even when the window is only half of the period (period 20 s).",
                ours=f"Period 20 s: COR-GLB {period['COR-GLB'][-1]:.0f} against LLF-GLB {period['LLF-GLB'][-1]:.0f}, "
                f"COR-SE-IMP {period['COR-SE-IMP'][-1]:.0f} against LLF-BAL {period['LLF-BAL'][-1]:.0f}.",
                holds=period["COR-GLB"][-1] < period["LLF-GLB"][-1]
                and period["COR-SE-IMP"][-1] < period["LLF-BAL"][-1],
            ),
        ],
        "figure 6.21",
    )


if __name__ == "__main__":
    main()
