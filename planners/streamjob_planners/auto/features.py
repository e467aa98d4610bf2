"""What kind of job this is, in three figures of its load model."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.measures import sent_bps
from streamjob_planners.model import FloatArray, LoadModel, Objective, PlanParams

FEWEST_WINDOWS = 12
"""Windows from which on a series tells what key groups share."""
EDGE_SLACK = 1.2
"""How far above what chance gives an eigenvalue must be to count."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Ratios from 0.

    Attributes:
        swing_ratio: standard deviation of a key group's share of all load that it has in common with others, over its
            mean; 0 where a series is missing or too short. Chance of each group alone is no swing, nor is more or less
            work for all.
        levels: stages that run one after another, where batch time is the objective; 0 where it is the load distance.
        traffic_ratio: load that traffic between key groups costs if all of it is remote, over all load.
    """

    swing_ratio: float
    traffic_ratio: float
    levels: int


def features(model: LoadModel, params: PlanParams) -> Features:
    """Of a model, and of what is asked for. O(n_windows^2 * n_groups)."""
    by_time = params.objective_of(model) is Objective.BATCH_TIME
    levels = model.batch.n_levels if by_time and model.batch is not None else 0
    return Features(swing_ratio=swing_ratio(model.load_series), traffic_ratio=_traffic(model), levels=levels)


def swing_ratio(series: FloatArray | None) -> float:
    """See `Features`. Of shares as standardised columns: what eigenvalues of correlations hold above chance's edge.

    Of independent columns no eigenvalue is above (1 + sqrt(n / w))^2 (Marchenko and Pastur, "Distribution of
    eigenvalues for some sets of random matrices", Mathematics of the USSR-Sbornik 1, 1967).
    """
    if series is None or len(series) < FEWEST_WINDOWS:
        return 0.0
    total = series.sum(axis=1)
    shares = series[total > 0] / total[total > 0][:, None]
    mean, deviation = shares.mean(axis=0), shares.std(axis=0)
    moving = deviation > 1e-12
    n_windows, n_groups = len(shares), int(moving.sum())
    if n_windows < FEWEST_WINDOWS or n_groups < 2:
        return 0.0
    columns = (shares[:, moving] - mean[moving]) / deviation[moving]
    values = np.linalg.eigvalsh(columns @ columns.T / n_windows)
    edge = EDGE_SLACK * (1.0 + np.sqrt(n_groups / n_windows)) ** 2
    common = float(values[values > edge].sum()) / n_groups
    typical = float(deviation.sum() / mean.sum())
    return float(np.sqrt(common)) * typical


def _traffic(model: LoadModel) -> float:
    load = float(model.load.sum())
    if model.traffic is None or load <= 0:
        return 0.0
    return 2.0 * model.traffic_load_ratio * float(sent_bps(model).sum()) / load
