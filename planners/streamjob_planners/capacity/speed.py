"""How fast each executor is, from tasks of the same key groups on several executors.

The seconds of a task are taken as ``cost of its group * rows^b / speed of its executor``, times chance. In logarithms
that is a sum of a part per group, a part per executor and a slope, fitted by weighted least squares with Huber's
weights (stragglers count less), old batches counting less from batch to batch as points above the current weight do in
the blocking-rate paper (section 5.4). Groups are eliminated first, so that what is left is one equation per executor:
the Laplacian of the graph in which two executors are joined that have run the same groups.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse, special
from scipy.sparse.csgraph import connected_components

from streamjob_planners.arrays import BoolArray, FloatArray, IntArray

KEPT_RATIO = 0.9
"""What a batch counts beside the next one."""
LEAST_S = 0.005
"""Shorter tasks tell about overhead and clocks only."""
LEAST_FREEDOM = 5
"""Fewer tasks than unknowns and this give no interval worth a decision."""
CONFIDENCE = 0.95
_HUBER, _ROUNDS = 1.345, 8
_MAD = 1.4826


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TaskRows:
    """Finished tasks of key groups, one entry each; all (n_tasks,).

    Attributes:
        batch: number of the batch, rising with time.
        group, executor: indices from 0.
        seconds: run time, >= 0.
        rows: rows that the task took, >= 0.
    """

    batch: IntArray
    group: IntArray
    executor: IntArray
    seconds: FloatArray
    rows: FloatArray

    def __post_init__(self) -> None:
        for name in ("group", "executor", "seconds", "rows"):
            array = getattr(self, name)
            if array.shape != self.batch.shape or array.ndim != 1:
                raise ValueError(f"{name}: shape {array.shape} given, {self.batch.shape} is needed")
            if not bool(np.isfinite(array).all() and (array >= 0).all()):
                raise ValueError(f"{name}: every value must be a finite number of 0 or more")

    def at(self, chosen: BoolArray | IntArray) -> TaskRows:
        """Some of them."""
        return TaskRows(**{field.name: getattr(self, field.name)[chosen] for field in dataclasses.fields(self)})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Speed of an executor; 1.0 is the median of those that could be compared. `low` to `high`: 95 % interval."""

    estimate: float
    low: float
    high: float
    tasks: int

    @property
    def cautious(self) -> float:
        """The value of the interval that is nearest to 1.0: what to plan with, since chance must not move anything."""
        return min(max(1.0, self.low), self.high)


def speeds(tasks: TaskRows, n_executors: int, *, kept_ratio: float = KEPT_RATIO) -> tuple[Speed | None, ...]:
    """Speed of each executor, (n_executors,); None where nothing compares it with most others.

    Two executors can be compared when they ran the same group, or through others that did. Of several such sets the
    largest is told. O(n_tasks + n_executors^3). Raises ValueError for executors out of range or a bad ratio.
    """
    if not 0 < kept_ratio <= 1:
        raise ValueError(f"kept_ratio: {kept_ratio} given, above 0 and up to 1 is needed")
    if tasks.executor.size and int(tasks.executor.max()) >= n_executors:
        raise ValueError(f"executor: every value must be an index from 0 to {n_executors - 1}")
    usable = tasks.at((tasks.seconds >= LEAST_S) & (tasks.rows > 0))
    compared = comparable(usable, n_executors)
    unknown: list[Speed | None] = [None] * n_executors
    if compared.size < 2:
        return tuple(unknown)
    for executor, speed in zip(compared.tolist(), _fitted(usable, compared, kept_ratio), strict=True):
        unknown[executor] = speed
    return tuple(unknown)


def comparable(tasks: TaskRows, n_executors: int) -> IntArray:
    """The largest set of executors that shared groups compare with each other, in order."""
    if tasks.group.size == 0:
        return np.zeros(0, dtype=np.int64)
    n_groups = int(tasks.group.max()) + 1
    ends = (tasks.executor, n_executors + tasks.group)
    size = n_executors + n_groups
    graph = sparse.csr_array((np.ones(tasks.group.size), ends), shape=(size, size))
    label = np.asarray(connected_components(graph, directed=False)[1])[:n_executors]
    most = np.bincount(label).argmax()
    return np.flatnonzero(label == most).astype(np.int64)


def cautious(found: tuple[Speed | None, ...]) -> FloatArray:
    """Speeds to plan with, (n_executors,): 1.0 for the unknown, `Speed.cautious` for others."""
    return np.array([1.0 if one is None else one.cautious for one in found])


def _fitted(tasks: TaskRows, compared: IntArray, kept_ratio: float) -> list[Speed | None]:
    """Speeds of the compared executors, or None for all of them where there are too few tasks."""
    here = tasks.at(np.isin(tasks.executor, compared))
    fit = _Fit(here, np.searchsorted(compared, here.executor), compared.size)
    if fit.freedom < LEAST_FREEDOM:
        return [None] * compared.size
    age = here.batch.max() - here.batch
    slower, error = fit.solve(kept_ratio**age)
    width = float(special.stdtrit(fit.freedom, (1 + CONFIDENCE) / 2)) * error
    count = np.bincount(fit.executor, minlength=compared.size)
    return [
        Speed(estimate=float(np.exp(-s)), low=float(np.exp(-s - w)), high=float(np.exp(-s + w)), tasks=int(n))
        for s, w, n in zip(slower, width, count, strict=True)
    ]


class _Fit:
    """Least squares of log seconds on groups, executors and log rows."""

    def __init__(self, tasks: TaskRows, executor: IntArray, n_executors: int) -> None:
        self.executor = executor
        self._n = n_executors
        self._group = np.unique(tasks.group, return_inverse=True)[1]
        self._n_groups = int(self._group.max()) + 1
        self._log_s, self._log_rows = np.log(tasks.seconds), np.log(tasks.rows)
        self.freedom = executor.size - self._n_groups - n_executors

    def solve(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How much slower than the median each executor is, in logarithms, and its standard error, (n_executors,)."""
        robust = np.ones(weight.size)
        for _ in range(_ROUNDS):
            effect, inverse, residual = self._once(weight * robust)
            scale = max(_MAD * float(np.median(np.abs(residual))), 1e-9)
            robust = np.minimum(1.0, _HUBER * scale / np.maximum(np.abs(residual), 1e-12))
        scale *= float(np.sqrt(residual.size / self.freedom))
        against = np.eye(self._n) - _median_parts(effect)
        variance = np.diag(against @ inverse @ against.T)
        return against @ effect, np.asarray(scale * np.sqrt(np.maximum(variance, 0.0)), dtype=np.float64)

    def _once(self, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Effects of executors, the inverse of the normal equations, and residuals."""
        y, z = self._within(self._log_s, weight), self._within(self._log_rows, weight)
        shared = sparse.csr_array((weight, (self._group, self.executor)), shape=(self._n_groups, self._n))
        per_group: FloatArray = np.bincount(self._group, weight, self._n_groups).astype(np.float64)
        normal = np.zeros((self._n + 1, self._n + 1))
        normal[: self._n, : self._n] = -(shared.T @ (sparse.diags_array(1 / per_group) @ shared)).toarray()
        normal[np.arange(self._n), np.arange(self._n)] += np.bincount(self.executor, weight, self._n)
        normal[: self._n, -1] = normal[-1, : self._n] = np.bincount(self.executor, weight * z, self._n)
        normal[-1, -1] = float((weight * z**2).sum())
        right = np.append(np.bincount(self.executor, weight * y, self._n), float((weight * z * y).sum()))
        inverse: FloatArray = np.asarray(np.linalg.pinv(normal, rcond=1e-10, hermitian=True), dtype=np.float64)
        found: FloatArray = inverse @ right
        fitted = self._within(found[self.executor], weight) + found[-1] * z
        return found[: self._n], inverse[: self._n, : self._n], np.asarray(y - fitted, dtype=np.float64)

    def _within(self, values: FloatArray, weight: FloatArray) -> FloatArray:
        """Without the weighted mean of each group."""
        total = np.bincount(self._group, weight, self._n_groups)
        mean = np.bincount(self._group, weight * values, self._n_groups) / total
        return np.asarray(values - mean[self._group])


def _median_parts(values: FloatArray) -> FloatArray:
    """What each value is of the median: the one in the middle, or half of each of two, (n,)."""
    order, middle = np.argsort(values, kind="stable"), (values.size - 1) // 2
    parts = np.zeros(values.size)
    parts[order[middle : values.size // 2 + 1]] = 1.0 if values.size % 2 else 0.5
    return parts
