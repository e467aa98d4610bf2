"""Heavy and light: whether groups are of two kinds, far apart, and which ones are the heavy ones."""

from __future__ import annotations

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray

APART = 1.5
"""How many times as much the lightest heavy group has as the heaviest light one, at least."""


def heavy_ones(load: FloatArray, fewest: int, most: int) -> BoolArray | None:
    """Which groups are heavy, (n_groups,), where these and light ones are two kinds apart; None where they are not.

    `load`: of each group, (n_groups,); `fewest`, at least 1, and `most`: how many may be heavy.
    """
    ascending = np.sort(load)[max(0, load.size - most - 1) : max(0, load.size - fewest + 1)]
    if ascending.size < 2 or ascending[0] <= 0.0:
        return None
    ratios = ascending[1:] / ascending[:-1]
    widest = int(ratios.argmax())
    return load >= ascending[widest + 1] if ratios[widest] >= APART else None
