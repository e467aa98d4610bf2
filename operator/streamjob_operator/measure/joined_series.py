"""The series of several queries on the rows of one of them.

A row holds, of each other query, its mean batch while the row lasted, times what its batches come to for one of the
leading query. Counts of batches that happened to end within a row would look like loads that come and go. Where a
query's batches are longer than the rows, a row says less than a batch: then it is its mean batch of the whole series.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from streamjob_agent import metric_names as names
from streamjob_operator.series import BatchSeries, StageRows
from streamjob_operator.values import Snapshot
from streamjob_planners.model import FloatArray, IntArray


def joined_series(
    lead: Snapshot, shares: Sequence[tuple[Snapshot, float, bool]], first_operator: int
) -> BatchSeries | None:
    """Rows of the lead; `shares` are all queries with their weights and whether they overlap; None where one of them
    tells no batches one by one. `first_operator`: number of the lead's first operator."""
    rows = lead.series
    if rows is None or any(one.series is None for one, _, _ in shares):
        return None
    parts = [_part(rows, one.series, weight) for one, weight, _ in shares if one.series is not None]
    overlap = [overlaps for _, _, overlaps in shares]
    together = [part.batch_s for part, overlaps in zip(parts, overlap, strict=True) if overlaps]
    alone = [part.batch_s for part, overlaps in zip(parts, overlap, strict=True) if not overlaps]
    nothing = np.zeros(rows.ended_at_s.size)
    return dataclasses.replace(
        rows,
        batch_s=np.max([nothing, *together], axis=0) + np.sum([nothing, *alone], axis=0),
        busy_s=np.concatenate([part.busy_s for part in parts], axis=1),
        records=np.concatenate([part.records for part in parts], axis=1),
        other_busy_s=np.sum([part.other_busy_s for part in parts], axis=0),
        owners=_owners(rows, [one.series for one, _, _ in shares if one.series is not None]),
        moved=np.sum([_moved(rows, one.series) for one, _, _ in shares if one.series is not None], axis=0),
        stages=dict(_numbered(name, one, first_operator) for name, one in rows.stages.items()),
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What one query adds to each row: columns (n_rows,), matrices (n_rows, n_groups)."""

    batch_s: FloatArray
    busy_s: FloatArray
    records: FloatArray
    other_busy_s: FloatArray


def _part(rows: BatchSeries, own: BatchSeries, weight: float) -> _Part:
    if own is rows:
        return _Part(batch_s=rows.batch_s, busy_s=rows.busy_s, records=rows.records, other_busy_s=rows.other_busy_s)
    means = _means(rows, own)
    batches = weight * rows.batches

    def of(values: FloatArray) -> FloatArray:
        return np.asarray((means @ values) * (batches if values.ndim == 1 else batches[:, None]), dtype=np.float64)

    return _Part(
        batch_s=of(own.batch_s), busy_s=of(own.busy_s), records=of(own.records), other_busy_s=of(own.other_busy_s)
    )


def _means(rows: BatchSeries, own: BatchSeries) -> FloatArray:
    """What makes a mean batch within each row out of sums over the query's own rows, (n_rows, n_own_rows)."""
    whole = np.tile(1.0 / own.batches.sum(), (rows.ended_at_s.size, own.ended_at_s.size))
    if float(own.row_s.sum() / own.batches.sum()) > float(rows.row_s.sum() / rows.batches.sum()):
        return whole
    last, first = rows.ended_at_s[:, None], (rows.ended_at_s - rows.row_s)[:, None]
    common_s = np.minimum(last, own.ended_at_s) - np.maximum(first, own.ended_at_s - own.row_s)
    parts = np.maximum(0.0, common_s) / own.row_s
    batches = (parts @ own.batches)[:, None]
    return np.where(batches > 0, parts / np.where(batches > 0, batches, 1.0), whole)


def _moved(rows: BatchSeries, own: BatchSeries) -> IntArray:
    """Key groups that moved, in the row in which the batch ended; in the first or last row before and after all."""
    at = np.clip(np.searchsorted(rows.ended_at_s, own.ended_at_s), 0, rows.ended_at_s.size - 1)
    return np.bincount(at, own.moved, rows.ended_at_s.size).astype(np.int64)


def _owners(rows: BatchSeries, every: Sequence[BatchSeries]) -> IntArray | None:
    """Executors of all queries' key groups when each row had ended; None where a query does not tell."""
    told = [(own, own.owners) for own in every if own.owners is not None]
    if len(told) < len(every):
        return None
    last = [np.clip(np.searchsorted(own.ended_at_s, rows.ended_at_s), 0, own.ended_at_s.size - 1) for own, _ in told]
    return np.concatenate([owners[at] for (_, owners), at in zip(told, last, strict=True)], axis=1)


def _numbered(name: str, rows: StageRows, first_operator: int) -> tuple[str, StageRows]:
    """A stage with the number that its operator has among those of all queries."""
    if rows.operator is None:
        return name, rows
    operator = rows.operator + first_operator
    return names.stage_name(operator), dataclasses.replace(rows, operator=operator)
