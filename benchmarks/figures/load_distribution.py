"""docs/figures/load-distribution.md and its pictures from what the programs of this dissertation left in out/figures.

Run with `python -m benchmarks.figures.load_distribution`, after some or all of the programs: what none of them said
anew stays as the page has it.
"""

from __future__ import annotations

import json
import re
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
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    kept = {one.split("\n")[0][3:]: one for one in re.split(r"^(?=## )", before, flags=re.MULTILINE)}
    parts = [NOTES.read_text(encoding="utf-8")]
    for name, title in TITLES.items():
        if (FOLDER / f"{name}.json").exists():
            parts.append(_section(name, title))
        elif title in kept:
            parts.append(kept[title].rstrip("\n") + "\n")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def _section(name: str, title: str) -> str:
    """A picture and a table of statements."""
    said = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    rows = "\n".join(row(one) for one in said)
    picture = f"![{title}](../pictures/{shrunk(name).name})"
    return f"## {title}\n\n{picture}\n\n| where | the paper | ours | holds |\n|---|---|---|---|\n{rows}\n"


if __name__ == "__main__":
    main()
