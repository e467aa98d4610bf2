"""Names for the arrays that every room of the planners uses, and small helpers with exact types."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
from scipy import sparse

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def sums(index: IntArray, values: npt.NDArray[np.generic], size: int) -> FloatArray:
    """Sum of the values of each index, (size,)."""
    return np.bincount(index, weights=np.asarray(values, dtype=np.float64), minlength=size).astype(np.float64)


def median(values: FloatArray) -> FloatArray:
    """Along the first axis; that of numpy to the last digit, in a fifth of its time for ten rows. No NaN, not empty.

    A cycle takes 150 of them, of few numbers each.
    """
    ordered, half = np.sort(values, axis=0), len(values) // 2
    found: FloatArray = ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2.0
    return found


def steadier(batches: IntArray, than: float) -> FloatArray:
    """How many times less rows of so many batches each vary by chance than those of `than`, 1.0 or more, (n_rows,).

    What newer rows are held against must vary as much as they do.
    """
    return np.sqrt(np.maximum(1.0, batches / than))


def neighbour_variances(values: FloatArray, batches: IntArray) -> FloatArray:
    """The variance of single batches by each two rows that follow one another, (n_rows - 1, ...).

    By their difference (von Neumann, 1941), so that a drift is no noise. `values`: means of so many `batches` each,
    (n_rows, ...): a row that stands for several hides what they differ by.
    """
    once = 1.0 / batches
    both = (once[1:] + once[:-1]).reshape(-1, *(1,) * (values.ndim - 1))
    found: FloatArray = np.diff(values, axis=0) ** 2 / both
    return found


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """Non-zero entries of a sparse matrix, (n_edges,) each."""

    row: IntArray
    col: IntArray
    value: FloatArray


def edges_of(matrix: sparse.csr_array) -> Edges:
    """The matrix as three arrays."""
    entries = sparse.coo_array(matrix)
    return Edges(
        row=entries.row.astype(np.int64), col=entries.col.astype(np.int64), value=entries.data.astype(np.float64)
    )


def neighbours(graph: sparse.csr_array, vertex: int) -> tuple[IntArray, FloatArray]:
    """The other ends of a vertex' edges and the edges' weights."""
    begin, end = graph.indptr[vertex], graph.indptr[vertex + 1]
    return graph.indices[begin:end].astype(np.int64), graph.data[begin:end]
