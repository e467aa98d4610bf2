"""Whether the source hands out no more than a fixed number of rows to a batch, whatever waits."""

from __future__ import annotations

import numpy as np

from streamjob_planners.arrays import FloatArray

LEAST_BATCHES = 4
"""Batches of the same size from which a cap is believed."""
WAITS = 1.5
"""Batches of that size that must wait: where batches follow each other at once, about one always does."""
SAME = 0.01
"""Relative difference of rows that are still the same: a source rounds its cap to partitions and files."""


def most_rows(rows: FloatArray, lag_rows: float | None) -> float | None:
    """Rows of the source's cap (`maxOffsetsPerTrigger`, `maxFilesPerTrigger`, a rate limit); None where none is seen.

    `rows`: of each of the newest batches, oldest first, (n_batches,). They must be the same while more waits than one
    batch takes; where nobody tells what waits (None), nothing is known of a cap.
    """
    newest = rows[-LEAST_BATCHES:]
    if newest.size < LEAST_BATCHES or lag_rows is None:
        return None
    cap = float(np.median(newest))
    same = cap > 0 and bool((np.abs(newest - cap) <= SAME * cap).all())
    return cap if same and lag_rows > WAITS * cap else None
