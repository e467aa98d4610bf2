"""Whether loads of key groups swing in common, told from chance."""

from __future__ import annotations

import numpy as np

from streamjob_planners.arrays import FloatArray

FEWEST_WINDOWS = 12
"""Windows from which on a series tells what key groups share."""
EDGE_SLACK = 1.2
"""How far above what chance gives an eigenvalue must be to count."""
LEAST_SWING = 0.12
"""`swing_ratio` from which on batches are looked at one by one, not by their mean."""


def swing_ratio(series: FloatArray | None) -> float:
    """Standard deviation of a key group's share of all load that it has in common with others, over its mean.

    0 where the series, (n_windows, n_groups), is missing or too short. Chance of each group alone is no swing, nor is
    more or less work for all. Shares are standardised: what eigenvalues of correlations hold above chance's edge. Of
    independent columns no eigenvalue is above (1 + sqrt(n / w))^2 (Marchenko and Pastur, "Distribution of eigenvalues
    for some sets of random matrices", Mathematics of the USSR-Sbornik 1, 1967). O(n_windows^2 * n_groups).
    """
    if series is None or len(series) < FEWEST_WINDOWS:
        return 0.0
    total = series.sum(axis=1)
    shares = series[total > 0] / total[total > 0][:, None]
    if len(shares) < FEWEST_WINDOWS:
        return 0.0
    mean, deviation = shares.mean(axis=0), shares.std(axis=0)
    moving = deviation > 1e-12
    n_windows, n_groups = len(shares), int(moving.sum())
    if n_groups < 2:
        return 0.0
    columns = (shares[:, moving] - mean[moving]) / deviation[moving]
    values = np.linalg.eigvalsh(columns @ columns.T / n_windows)
    edge = EDGE_SLACK * (1.0 + np.sqrt(n_groups / n_windows)) ** 2
    common = float(values[values > edge].sum()) / n_groups
    typical = float(deviation.sum() / mean.sum())
    return float(np.sqrt(common)) * typical
