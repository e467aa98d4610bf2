"""Whether loads of key groups swing in common, told from chance."""

from __future__ import annotations

import numpy as np

from streamjob_planners.arrays import FloatArray

FEWEST_WINDOWS = 12
"""Windows from which on a series tells what key groups share."""
LEAST_ODD = 2
"""Windows, and one of each dozen if that is more, that are left out for a try: a swing comes again."""
EDGE_SLACK = 1.2
"""How far above what chance gives an eigenvalue must be to count."""
LEAST_DEVIATION = 1e-12
"""Of a share, for rounding."""
LEAST_SWING = 0.12
"""`swing_ratio` from which on batches are looked at one by one, not by their mean."""


def swing_ratio(series: FloatArray | None) -> float:
    """Standard deviation of a key group's share of all load that it has in common with others, over its mean.

    0 where the series, (n_windows, n_groups), is missing or too short. Chance of each group alone is no swing, nor is
    more or less work for all, nor what shows in one or two windows alone, such as a job's nearly empty first batches:
    the smaller one of what all windows show and what they show without the oddest ones. O(n_windows^2 * n_groups).
    """
    if series is None or len(series) < FEWEST_WINDOWS:
        return 0.0
    total = series.sum(axis=1)
    shares = series[total > 0] / total[total > 0][:, None]
    if len(shares) < FEWEST_WINDOWS:
        return 0.0
    ratio = _in_common(shares)
    return min(ratio, _in_common(_without_odd(shares))) if ratio > 0 else 0.0


def _in_common(shares: FloatArray) -> float:
    """What eigenvalues of correlations hold above chance's edge.

    Of independent columns no eigenvalue is above (1 + sqrt(n / w))^2 (Marchenko and Pastur, "Distribution of
    eigenvalues for some sets of random matrices", Mathematics of the USSR-Sbornik 1, 1967).
    """
    columns, deviation = _standardised(shares)
    n_windows, n_groups = columns.shape
    if n_groups < 2:
        return 0.0
    values = np.linalg.eigvalsh(columns @ columns.T / n_windows)
    edge = EDGE_SLACK * (1.0 + np.sqrt(n_groups / n_windows)) ** 2
    common = float(values[values > edge].sum()) / n_groups
    return float(np.sqrt(common) * deviation.sum() / shares.mean(axis=0).sum())


def _without_odd(shares: FloatArray) -> FloatArray:
    """The windows but for those that differ most from the mean."""
    odd = max(LEAST_ODD, len(shares) // FEWEST_WINDOWS)
    columns, _ = _standardised(shares)
    far = (columns**2).sum(axis=1)
    return shares[np.sort(np.argsort(far, kind="stable")[: len(shares) - odd])]


def _standardised(shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shares of the groups whose share moves, in standard deviations from its mean; and these deviations."""
    deviation = shares.std(axis=0)
    moving = deviation > LEAST_DEVIATION
    columns = (shares[:, moving] - shares[:, moving].mean(axis=0)) / deviation[moving]
    return columns, deviation[moving]
