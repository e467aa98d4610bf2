"""Where a series of batches changes: the batches from which on key groups share the work in another way.

Binary segmentation (Scott and Knott, "A cluster analysis method for grouping means in the analysis of variance",
Biometrics 30, 1974): a series in which chance does not explain the best cut is parted where both sides are most alike
within, and each part is looked at in the same way. What is tested follows from what batches of streaming jobs are like:
a batch may be slow as a whole, and single tasks straggle. So rows are taken relative to their own size, seconds as
square roots (their variance then hardly depends on their mean: Bartlett, "The use of transformations", Biometrics 3,
1947), their noise from medians, its tails from Student's distribution; right after a change every row must speak for
it; and what key groups say is combined by Fisher's method ("Statistical Methods for Research Workers", 1925, section
21.1). The newest batch counts alone where it shows more than time can take, see `sudden`.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from streamjob_planners.arrays import FloatArray, IntArray, median, steadier
from streamjob_planners.batch.sudden import sudden

CHANCE = 1e-4
"""Chance with which one look at a quiet series sees a change, over all cuts."""
MOST_GROUPS = 256
"""The heaviest key groups are looked at: what light ones do changes little."""
LEAST_BEFORE, LEAST_AFTER = 4, 2
"""Rows on either side of a cut: noise has to be known, and one row may be chance."""
ALL_MUST_SPEAK = 3
"""Up to this many rows after a cut, each key group counts by the row that speaks least."""
MEDIAN_COSTS = 1.2533
"""Standard error of a median over that of a mean, of normal noise: sqrt(pi / 2). One odd row hardly moves it."""
FREEDOM = 4.0
"""Degrees of freedom of the noise: stragglers are common."""


def changes(busy_s: FloatArray, batches: IntArray) -> tuple[int, ...]:
    """Rows from which on shares are others than before, ascending; empty where no change is seen.

    `busy_s` (n_rows, n_groups) are seconds of key groups in `batches` (n_rows,) batches each, oldest row first.
    """
    if len(batches) < LEAST_BEFORE + LEAST_AFTER:
        return ()
    scaled, weight = _scaled(busy_s, batches), np.sqrt(batches.astype(np.float64))
    found, parts = [], [(0, len(batches))]
    while parts:
        begin, end = parts.pop()
        cut = _best_cut(scaled[begin:end], weight[begin:end])
        if cut is not None:
            found.append(begin + cut)
            parts += [(begin, begin + cut), (begin + cut, end)]
    found.sort()
    newest = len(batches) - 1
    if shown_alone(busy_s, batches, newest, found[-1] if found else 0):
        found.append(newest)
    return tuple(found)


def shown_alone(busy_s: FloatArray, batches: IntArray, row: int, since: int = 0) -> bool:
    """Whether this row by itself shows that work went from key groups to others, against the rows from `since` on.

    No executor's speed does that, however many of its key groups are among them. Earlier rows of more batches count as
    if they varied as much.
    """
    per_batch = busy_s[since : row + 1] / batches[since : row + 1, None]
    usual = median(per_batch)
    apart = steadier(batches[since : row + 1], float(batches[row]))[:, None] * (per_batch - usual)
    return sudden(np.maximum(0.0, usual + apart))


def _scaled(busy_s: FloatArray, batches: IntArray) -> FloatArray:
    """Square roots of seconds per batch of the heaviest key groups, each row relative to its median key group's."""
    per_batch = busy_s / batches[:, None]
    mean = per_batch.mean(axis=0)
    heavy = np.argsort(-mean, kind="stable")[:MOST_GROUPS]
    heavy = heavy[mean[heavy] > 0]
    if heavy.size < 2:
        return np.zeros((len(batches), 0))
    ratios = per_batch[:, heavy] / mean[heavy]
    size = median(ratios.T)
    whole = per_batch[:, heavy].sum(axis=1) / mean[heavy].sum()
    return np.sqrt(per_batch[:, heavy] / np.where(size > 0, size, np.where(whole > 0, whole, 1.0))[:, None])


def _best_cut(scaled: FloatArray, weight: FloatArray) -> int | None:
    """The row before which to cut; None where chance explains every cut."""
    n_rows, n_groups = scaled.shape
    cuts = range(LEAST_BEFORE, n_rows - LEAST_AFTER + 1)
    if not cuts or not n_groups:
        return None
    noise = _noise(scaled, weight)
    if min(_chance(scaled, weight, noise, cut) for cut in cuts) >= CHANCE / len(cuts):
        return None
    return min(cuts, key=lambda cut: _off(scaled[:cut], noise) + _off(scaled[cut:], noise))


def _off(part: FloatArray, noise: FloatArray) -> float:
    """How far rows are from their median, in noise: medians alone do not tell to which side of a cut a row belongs."""
    return float((np.abs(part - median(part)) / noise).sum())


def _noise(scaled: FloatArray, weight: FloatArray) -> FloatArray:
    """Standard deviation of one batch, from steps between rows: of each key group, at least that of all."""
    steps = np.abs(np.diff(scaled, axis=0)) / np.sqrt(weight[1:, None] ** -2 + weight[:-1, None] ** -2)
    own = median(steps)
    least = 1e-3 * float(scaled.mean())
    return np.maximum(np.maximum(own, median(steps.ravel())) / 0.6745, max(least, 1e-12))


def _chance(scaled: FloatArray, weight: FloatArray, noise: FloatArray, cut: int) -> float:
    """How likely noise alone parts the rows as far, by Fisher's method over key groups."""
    before, unsure = median(scaled[:cut]), MEDIAN_COSTS**2 / (weight[:cut] ** 2).sum()
    after, squares = scaled[cut:], weight[cut:] ** 2
    if len(after) <= ALL_MUST_SPEAK:
        off = (after - before) / (noise * np.sqrt(1.0 / squares[:, None] + unsure))
        agree = np.all(off > 0, axis=0) | np.all(off < 0, axis=0)
        # As if the other rows were all off for a reason of their own: an executor that was slow for a batch.
        chances = np.where(agree, special.stdtr(FREEDOM, -np.abs(off).min(axis=0)), 1.0)
    else:
        off = np.abs(median(after) - before)
        chances = 2.0 * special.stdtr(FREEDOM, -off / (noise * np.sqrt(MEDIAN_COSTS**2 / squares.sum() + unsure)))
    return float(special.chdtrc(2 * chances.size, -2.0 * np.log(np.maximum(chances, 1e-300)).sum()))
