"""Figure 12 of the blocking-rate paper: 64 workers of three classes, their weights and clusters over time.

Run with `python -m benchmarks.figures.blocking_12`.
"""

from __future__ import annotations

import numpy as np
from benchmarks.figures.report import Claim, Page, Panel, arguments
from benchmarks.kept import piece
from benchmarks.region.systems import Run, fair_total, run
from benchmarks.region.world import Load

from streamjob_planners.model import IntArray

SEED = 1
CLASSES = {"100x": 20, "5x": 20, "plain": 24}
FACTORS = (100.0, 5.0, 1.0)


def main() -> None:
    """Prints statements, draws weights and the heat map of clusters."""
    seconds = 150 if arguments(__doc__ or "").quick else 400
    class_of, one = _class_of(), _of_classes(seconds)
    page = Page("blocking_12")
    page.claims(_claims(one, class_of, seconds), f"figure 12, 64 workers, seed {SEED}")
    clusters = np.zeros((seconds, 64)) if one.clusters is None else one.clusters[:seconds]
    lines = {
        f"{name}, {kind}": (100 * pick(one.shares[:seconds, class_of == number], axis=1)).tolist()
        for number, name in enumerate(CLASSES)
        for kind, pick in (("least", np.min), ("most", np.max))
    }
    page.draw(
        [
            Panel(title="figure 12: weights by class", x_label="s", y_label="weight, %", lines=lines),
            Panel(title="figure 12: clusters", x_label="channel", y_label="s", heat=clusters.tolist()),
        ],
        columns=2,
    )


def _class_of() -> IntArray:
    return np.repeat(np.arange(3), list(CLASSES.values()))


@piece
def _of_classes(seconds: int) -> Run:
    load = Load(multiplies=60_000, factor=np.array(FACTORS)[_class_of()])
    return run("LB-adaptive", load, fair_total(load, seconds), SEED, least_s=seconds)


def _claims(one: Run, class_of: IntArray, seconds: int) -> list[Claim]:
    late = slice(max(0, seconds - 100), seconds)
    mean = [100 * float(one.shares[late][:, class_of == number].mean()) for number in range(3)]
    mixed = [] if one.clusters is None else [_misplaced(row, class_of) for row in one.clusters[:seconds]]
    last = max((at for at, share in enumerate(mixed) if share > 0), default=-1)
    count = [] if one.clusters is None else [int(row.max()) + 1 for row in one.clusters[late]]
    fair = np.array([1 / factor for factor in FACTORS])[class_of]
    ideal = [100 * float(fair[class_of == number][0] / fair.sum()) for number in range(3)]
    told = ", ".join(f"{name} {m:.2f} (fair {i:.2f})" for name, m, i in zip(CLASSES, mean, ideal, strict=True))
    return [
        Claim(
            paper="Weights end at the least (100x), at most 2 (5x) and about 4 (plain).",
            ours=f"Mean over the last 100 s, percent: {told}.",
            holds=mean[0] < 0.3 and mean[1] <= 2 and 3 <= mean[2] <= 4.5,
        ),
        Claim(
            paper="Clusters emerge that hold one class only; the last switch is at about 220 s.",
            ours=f"Channels in a cluster of mostly another class: {100 * float(np.mean(mixed[late])):.1f} % over the "
            f"last 100 s, the last ones at second {last}.",
            holds=last < seconds - 50,
        ),
        Claim(
            paper="There are more than three clusters, of three classes.",
            ours=f"{min(count)} to {max(count)} clusters over the last 100 s.",
            holds=min(count) >= 3,
        ),
    ]


def _misplaced(cluster_of: IntArray, class_of: IntArray) -> float:
    """Part of the channels whose cluster is mostly of another class."""
    wrong = 0
    for cluster in np.unique(cluster_of):
        held = np.bincount(class_of[cluster_of == cluster], minlength=3)
        wrong += int(held.sum() - held.max())
    return wrong / class_of.size


if __name__ == "__main__":
    main()
