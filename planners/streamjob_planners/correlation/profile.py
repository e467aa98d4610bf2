"""The series that the correlation planners compare: its shape as observed, its level that of the model's loads."""

from __future__ import annotations

import numpy as np

from streamjob_planners.model import FloatArray, LoadModel


def scaled_series(model: LoadModel) -> FloatArray | None:
    """Load of each group in each window, of mean `model.load`, (n_groups, n_windows); None without a series.

    A group without a load in any window has its load in all of them.
    """
    series = model.load_series
    if series is None or series.shape[0] == 0:
        return None
    mean = series.mean(axis=0)
    shape = np.where(mean > 0, series / np.where(mean > 0, mean, 1.0), 1.0)
    scaled: FloatArray = np.ascontiguousarray((shape * model.load).T)
    return scaled
