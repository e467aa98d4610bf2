"""What every figure shares: arguments, a table, the paper's statement beside ours, and a picture."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

FOLDER = Path("out/figures")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One set of axes: several lines over the same x values (or over 1, 2, 3 ... where x is None)."""

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Sequence[float]]
    x: Sequence[float] | None = None
    log_y: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement of the paper, what we measured, and whether ours holds."""

    paper: str
    ours: str
    holds: bool


def arguments(description: str) -> argparse.Namespace:
    """--quick runs a part of the instances."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer instances, rounds and seeds")
    return parser.parse_args()


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints aligned columns; floats with two digits."""
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))


def _cell(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def claims(made: Sequence[Claim]) -> None:
    """Prints the paper's words beside ours."""
    for claim in made:
        print(f"\npaper: {claim.paper}\nours:  {claim.ours}\n       {'holds' if claim.holds else 'DOES NOT HOLD'}")


def draw(name: str, panels: Sequence[Panel], columns: int) -> Path:
    """Writes out/figures/<name>.png and returns its path."""
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5.0 * columns, 3.6 * rows), squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, panel in zip(axes.flat, panels, strict=False):
        _draw_panel(axis, panel)
    figure.tight_layout()
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"\nwrote {path}")
    return path


def _draw_panel(axis: plt.Axes, panel: Panel) -> None:
    for number, (label, values) in enumerate(panel.lines.items()):
        x = range(1, len(values) + 1) if panel.x is None else panel.x
        marker = "os^Dvx*"[number % 7] if len(values) <= 15 else None
        axis.plot(x, values, label=label, marker=marker, markersize=4, linewidth=1.4)
    axis.set_title(panel.title, fontsize=10)
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)
    if panel.log_y:
        axis.set_yscale("log")
    else:
        axis.set_ylim(bottom=0.0)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
