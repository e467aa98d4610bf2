"""docs/figures/load-distribution.md and its pictures from what the programs of this dissertation left in out/figures.

Run with `python -m benchmarks.figures.load_distribution`, after `make figures`.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.figures.publish import row, shrunk
from benchmarks.figures.report import FOLDER

PAGE = Path("docs/figures/load-distribution.md")
NOTES = Path("benchmarks/figures/load_distribution.md")
"""What is not measured: how it was done, what was chosen, and what cannot be reproduced."""
TITLES = {
    "cor_small": "Figures 1.5 and 5.1, table 5.1: why correlation matters, and what it costs to compute",
    "rod_bounds": "Figures 4.5, 4.7, 6.6, 6.7, table 6.1: distances, and lower bounds on rates",
    "rod_feasible": "Figures 6.1 to 6.5: feasible sets over operators and inputs",
    "rod_network": "Figures 6.8 to 6.11: clusters, communication and bandwidth",
    "rod_latency": "Figures 6.12 and 6.13: latency of aggregates",
    "cor_global": "Figures 6.14 to 6.17, table 6.3: the global algorithms",
    "cor_rise": "Figures 6.16 and 6.17 again: every rate drawn anew at the rise",
    "cor_pairs": "Figures 6.18 to 6.20: the pair-wise algorithms",
    "cor_sensitivity": "Figure 6.21: other parameters",
    "cor_bursts": "Figure 6.22: bursty loads",
}


def main() -> None:
    """Writes the page and the pictures."""
    parts = [NOTES.read_text(encoding="utf-8")]
    for name, title in TITLES.items():
        said = FOLDER / f"{name}.json"
        if said.exists():
            picture = shrunk(name)
            rows = "\n".join(row(one) for one in json.loads(said.read_text(encoding="utf-8")))
            header = "| where | the paper | ours | holds |\n|---|---|---|---|"
            parts.append(f"## {title}\n\n![{title}](../pictures/{picture.name})\n\n{header}\n{rows}\n")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
