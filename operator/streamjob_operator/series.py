"""What the batches of a window took, row by row: what a mean over the window cannot tell."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.model import FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BatchSeries:
    """One row per batch, oldest first; a row stands for several where they ended between two readings.

    Attributes:
        ended_at_s: when the row's last batch was known to have ended, (n_rows,), increasing.
        row_s: time since the row before, (n_rows,), above 0: pauses between batches are in it.
        batches: batches of the row, (n_rows,), 1 or more.
        batch_s: durations of these batches added up, (n_rows,).
        busy_s: seconds of each key group's tasks in them without what only moves and starts cost, (n_rows, n_groups).
    """

    ended_at_s: FloatArray
    row_s: FloatArray
    batches: IntArray
    batch_s: FloatArray
    busy_s: FloatArray

    def trouble(self, n_groups: int) -> str | None:
        """Why this is no series of so many key groups; None where it is one."""
        n_rows = self.ended_at_s.size
        columns = {"row_s": self.row_s, "batches": self.batches, "batch_s": self.batch_s}
        for name, column in columns.items():
            if column.shape != (n_rows,):
                return f"{name}: {column.size} values given for {n_rows} rows"
        if self.busy_s.shape != (n_rows, n_groups):
            return f"busy_s: shape {self.busy_s.shape} given, ({n_rows}, {n_groups}) is needed"
        sound = np.isfinite(self.busy_s).all() and (self.busy_s >= 0).all() and (self.row_s > 0).all()
        return None if sound and (self.batches > 0).all() else "a number of it is below 0 or not finite"
