"""What every figure shares: arguments, a table, the paper's statement beside ours, and a picture."""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from benchmarks.kept import stop_after

mpl.use("Agg")
from matplotlib import pyplot as plt

FOLDER = Path("out/figures")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One set of axes: several lines over the same x values (or over 1, 2, 3 ... where x is None), or a heat map.

    A title begins with the paper's figure, up to a colon: panels of one figure share a picture.
    Those named in `dots` are drawn as points without a line; lines of one value each are drawn as bars.
    """

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Sequence[float]] = dataclasses.field(default_factory=dict)
    x: Sequence[float] | None = None
    log_y: bool = False
    dots: frozenset[str] = frozenset()
    heat: Sequence[Sequence[float]] | None = None

    @property
    def figure(self) -> str:
        """The paper's name for it."""
        return self.title.partition(":")[0]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement of the paper, what we measured, and whether ours holds."""

    paper: str
    ours: str
    holds: bool


def arguments(description: str) -> argparse.Namespace:
    """--quick runs a part of the instances; --seconds ends the program at the next piece after so long."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer instances, rounds and seeds")
    parser.add_argument("--seconds", type=float, help="begin no piece after this time")
    given = parser.parse_args()
    stop_after(given.seconds)
    return given


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints aligned columns; floats with two digits."""
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))


def _cell(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


class Page:
    """What one program says about its figures: statements while it runs, one picture at the end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: list[dict[str, object]] = []

    def claims(self, made: Sequence[Claim], where: str) -> None:
        """Prints the paper's words beside ours, and keeps them; `where` says what they are about."""
        for claim in made:
            print(f"\npaper: {claim.paper}\nours:  {claim.ours}\n       {'holds' if claim.holds else 'DOES NOT HOLD'}")
            self._said.append({"where": where, **dataclasses.asdict(claim)})

    def draw(self, panels: Sequence[Panel], columns: int) -> None:
        """Writes out/figures/<name>.png, the statements beside it for `publish`, and a picture of each figure in
        out/figures/<name>/."""
        path, folder = FOLDER / f"{self._name}.png", FOLDER / self._name
        folder.mkdir(parents=True, exist_ok=True)
        _draw_panels(path, panels, columns)
        for figure in dict.fromkeys(panel.figure for panel in panels):
            own = [panel for panel in panels if panel.figure == figure]
            _draw_panels(folder / f"{re.sub('[^a-z0-9.]+', '-', figure.lower())}.png", own, min(columns, len(own)))
        path.with_suffix(".json").write_text(json.dumps(self._said, indent=1) + "\n", encoding="utf-8")
        print(f"\nwrote {path}, and its figures in {folder}")


def _draw_panels(path: Path, panels: Sequence[Panel], columns: int) -> None:
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5.0 * columns, 3.6 * rows), squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, panel in zip(axes.flat, panels, strict=False):
        _draw_panel(axis, panel)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_panel(axis: plt.Axes, panel: Panel) -> None:
    axis.set_title(panel.title, fontsize=10)
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)
    if panel.heat is not None:
        axis.imshow(panel.heat, aspect="auto", interpolation="nearest", cmap="tab20")
    elif all(len(values) == 1 for values in panel.lines.values()):
        axis.bar(list(panel.lines), [values[0] for values in panel.lines.values()])
    else:
        _draw_lines(axis, panel)


def _draw_lines(axis: plt.Axes, panel: Panel) -> None:
    for number, (label, values) in enumerate(panel.lines.items()):
        x = range(1, len(values) + 1) if panel.x is None else panel.x
        marker = "os^Dvx*"[number % 7] if len(values) <= 15 else None
        if label in panel.dots:
            axis.plot(x, values, ".", label=label, markersize=2, alpha=0.5)
        else:
            axis.plot(x, values, label=label, marker=marker, markersize=4, linewidth=1.4)
    if panel.log_y:
        axis.set_yscale("log")
    else:
        axis.set_ylim(bottom=0.0)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
