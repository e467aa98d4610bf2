"""Where the level of one figure changes: rows that arrive in a second, seconds of all tasks together.

Binary segmentation of one series (Scott and Knott, "A cluster analysis method for grouping means in the analysis of
variance", Biometrics 30, 1974), by the largest of Student's two-sample statistics over all cuts (Worsley, "On the
likelihood ratio test for a shift in location of normal populations", Journal of the American Statistical Association
74, 1979), of square roots, whose variance hardly depends on their mean (Bartlett, Biometrics 3, 1947). Right after a
cut every row must speak for it, later their median: one batch with very many rows is no change. The chance of a false
alarm is spent where it shortens the wait: most of it on the newest cut, which is new at every look, and on a rise.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from streamjob_planners.arrays import FloatArray, IntArray

CHANCE_OF_RISE, CHANCE_OF_FALL = 4e-4, 5e-5
"""Chance with which one look at a quiet series sees the newest two rows as higher, or lower, than all others. A fall is
in no hurry: executors are not taken away before it has lasted."""
SPEAKS = 0.5
"""Part of the step that the rows after a cut must show: each of up to ALL_MUST_SPEAK, the median of more."""
ALL_MUST_SPEAK = 3
LEAST_BEFORE, LEAST_AFTER = 6, 2
"""Rows on either side of a cut: noise has to be known, and one row may be chance."""
LEAST_NOISE = 0.05
"""Noise of a batch that is taken for granted, as a part of the level: a source that ticks evenly has steps that mean
nothing."""


def level_changes(level: FloatArray, batches: IntArray) -> tuple[int, ...]:
    """Rows from which on the level is another than before, ascending; empty where no change is seen.

    `level` (n_rows,), 0 or more, oldest first, is a mean over `batches` (n_rows,) batches each.
    """
    root, weight = np.sqrt(level), batches.astype(np.float64)
    found, parts = [], [(0, level.size)]
    while parts:
        begin, end = parts.pop()
        cut = _best_cut(root[begin:end], weight[begin:end])
        if cut is not None:
            found.append(begin + cut)
            parts += [(begin, begin + cut), (begin + cut, end)]
    return tuple(sorted(found))


def _best_cut(root: FloatArray, weight: FloatArray) -> int | None:
    """The row before which to cut; None where chance explains every cut."""
    cuts = np.arange(LEAST_BEFORE, root.size - LEAST_AFTER + 1)
    if not cuts.size:
        return None
    before, after, unsure = _sides(root, weight, cuts)
    step = after - before
    chances = special.stdtr(root.size - 2, -np.abs(step) / unsure)
    allowed = np.where(step > 0, CHANCE_OF_RISE, CHANCE_OF_FALL) * (LEAST_AFTER / (root.size - cuts)) ** 2
    sure = [at for at in np.flatnonzero(chances < allowed).tolist() if _speaks(root[cuts[at] :] - before[at], step[at])]
    return int(cuts[min(sure, key=lambda at: float(chances[at]))]) if sure else None


def _sides(root: FloatArray, weight: FloatArray, cuts: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means before and after each cut, and the standard error of their difference, (n_cuts,)."""
    weights, sums = np.cumsum(weight), np.cumsum(weight * root)
    w_before, w_after = weights[cuts - 1], weights[-1] - weights[cuts - 1]
    before, after = sums[cuts - 1] / w_before, (sums[-1] - sums[cuts - 1]) / w_after
    squares = float((weight * root**2).sum()) - w_before * before**2 - w_after * after**2
    least = max(0.5 * LEAST_NOISE * float(np.median(root)), 1e-12)
    noise = np.maximum(np.sqrt(np.maximum(squares, 0.0) / (root.size - 2)), least)
    return before, after, noise * np.sqrt(1.0 / w_before + 1.0 / w_after)


def _speaks(off: FloatArray, step: float) -> bool:
    """Whether rows that are off by so much, (n_after,), show a step together and not one of them alone."""
    shown = off / step
    least = shown.min() if off.size <= ALL_MUST_SPEAK else np.median(shown)
    return bool(least >= SPEAKS)
