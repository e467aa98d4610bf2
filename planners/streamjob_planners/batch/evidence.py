"""What windows have taught about the tasks of key groups: their mean seconds, and how far that mean may be off.

A window of one batch shows one task of each group, and placing by it is placing by chance. So a group's share of its
operator's seconds is averaged over windows, newer batches counting for more, and what single windows differ from the
average tells how much tasks vary. Shares do not change when all tasks get longer, as with more rows in a batch.
A group that is far off twice in the same direction has changed, and so has an operator of which many groups are far
off at once: what was known of them is forgotten. One task that took very long is neither.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence

import numpy as np

from streamjob_planners.arrays import BoolArray, FloatArray, IntArray

KEEP = 0.9
"""What older batches count for in each newer one: half after about seven."""
FAR = 4.0
"""Standard deviations from which a group's window is far off: one of 16,000 by chance."""
CLIPPED = 9.0
"""Variances that one group's difference counts for at most: a straggler is not the whole operator."""
MISFIT = 5.0
"""Standard deviations of the sum of squares of an operator's differences, from which the operator has changed: once in
thousands of windows by chance."""
PRIOR_RATIO, PRIOR_TASKS = 0.3, 0.5
"""Standard deviation of a task before any was compared, as a part of its mean, and the tasks that this stands for."""
LEAST_RATIO = 0.02
"""Standard deviation of a task that varies least, as a part of its mean."""
FEWEST_ROWS = 4
"""Batches one by one from which their differences tell how much tasks vary."""
YOUNG_WINDOWS = 5.0
"""Windows up to which what is known of how much tasks vary gives way to that; of more they know more than few rows."""
DISJOINT = 0.99
"""Part of a window that must be new to be compared with what was known before."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TaskWindow:
    """What one window showed.

    Attributes:
        operator, partition: of each group, (n_groups,).
        task_s: mean seconds of each group's task, >= 0, (n_groups,).
        owner: number of the executor that ran it, -1 where nobody knows, (n_groups,).
        batches: batches within the window, 1 or more.
        new_ratio: part of the window that no earlier one has shown, above 0 and up to 1.
        spread_s: standard deviation of a task from batch to batch within the window, by operator, where it was told.
    """

    operator: IntArray
    partition: IntArray
    task_s: FloatArray
    owner: IntArray
    batches: int
    new_ratio: float
    spread_s: dict[int, float]

    @property
    def groups(self) -> int:
        """A number that says which groups these are."""
        return zlib.crc32(np.stack((self.operator, self.partition)).astype(np.int64).tobytes())


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """How much tasks of one operator vary; sums over groups and windows, in shares of the operator's seconds.

    A group's variance goes with its share or with the square of it, whichever gives more: `squares` over `means`, or
    over `mean_squares`. `together` over `apart` is by how much tasks of one executor vary together.
    """

    squares: float
    means: float
    mean_squares: float
    together: float = 0.0
    apart: float = 0.0

    def variance(self, share: FloatArray) -> FloatArray:
        """Of one task of each group, (n_groups,)."""
        by_share = self.squares / max(self.means, 1e-300) * share
        by_square = self.squares / max(self.mean_squares, 1e-300) * share**2
        return np.maximum(np.maximum(by_share, by_square), (LEAST_RATIO * share) ** 2)

    @property
    def clustering(self) -> float:
        """Variance of an executor's sum over that of as many independent tasks, 1 or more."""
        return max(1.0, self.together / self.apart) if self.apart > 0 else 1.0

    def plus(self, other: Variation, keep: float) -> Variation:
        """Both, this one counting for `keep`."""
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)
        return Variation(**dict(zip(_SUMS, (keep * one + more for one, more in pairs), strict=True)))


_SUMS = tuple(field.name for field in dataclasses.fields(Variation))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvidence:
    """What is known of the tasks of a job's key groups.

    Attributes:
        groups: which groups these are, `TaskWindow.groups`.
        share: mean part of its operator's seconds, of each group, (n_groups,).
        batches: batches that this mean stands for, (n_groups,).
        high, low: groups that were far off in the newest window, as indices.
        variation: how much tasks vary, by operator in rising order.
    """

    groups: int
    share: tuple[float, ...]
    batches: tuple[float, ...]
    high: tuple[int, ...] = ()
    low: tuple[int, ...] = ()
    variation: tuple[Variation, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError where the parts speak of other key groups: one that was kept may be anybody's text."""
        n_groups = len(self.share)
        if len(self.batches) != n_groups or not all(0 <= one < n_groups for one in (*self.high, *self.low)):
            raise ValueError("share, batches, high and low speak of other key groups")

    def tasks(self, operator: IntArray, task_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean seconds of each group's task in a batch like this window's, and their standard errors, (n_groups,)."""
        row, total_s = _totals(operator, task_s)
        share, batches = np.array(self.share), np.array(self.batches)
        error = np.zeros(share.size)
        for at, one in enumerate(self.variation):
            mine = row == at
            error[mine] = np.sqrt(one.variance(share[mine]) * one.clustering / batches[mine])
        return share * total_s[row], error * total_s[row]


def with_window(before: TaskEvidence | None, window: TaskWindow) -> TaskEvidence:
    """What is known after one more window; other groups than before begin anew. O(n_groups).

    Of an operator that took no time in it, as its query had no batch, it teaches nothing.
    """
    row, total_s = _totals(window.operator, window.task_s)
    share = _shares(window, row, total_s)
    if before is None or before.groups != window.groups:
        return _first(window, row, share, total_s, [_prior(share[row == at]) for at in range(total_s.size)])
    return _Step(before, window, row, share, total_s).result()


def begun_anew(before: TaskEvidence | None, window: TaskWindow) -> TaskEvidence:
    """What is known after a change that this window begins with: shares are the window's alone.

    How much tasks vary beside their mean does not go with who has the work, and is as known as before. O(n_groups).
    """
    if before is None or before.groups != window.groups:
        return with_window(None, window)
    row, total_s = _totals(window.operator, window.task_s)
    return _first(window, row, _shares(window, row, total_s), total_s, before.variation)


def _first(
    window: TaskWindow, row: IntArray, share: FloatArray, total_s: FloatArray, variation: Sequence[Variation]
) -> TaskEvidence:
    """What one window teaches to whom only the variation of each operator is known."""
    return TaskEvidence(
        groups=window.groups,
        share=_rounded(share),
        batches=_rounded(np.full(row.size, float(window.batches))),
        variation=tuple(_told(window, row, total_s, at, one) for at, one in enumerate(variation)),
    )


def with_rows(known: TaskEvidence, operator: IntArray, task_s: FloatArray, batches: IntArray) -> TaskEvidence:
    """With what batches one by one tell of how much tasks vary: from each to the next one, the largest step left out.

    `task_s`: mean seconds of each group's task in each row, (n_rows, n_groups); `batches`: of each row, (n_rows,).
    Groups are those of `known`. What is known of operators with fewer than FEWEST_ROWS such rows stays, and what more
    than YOUNG_WINDOWS have taught. O(n_rows n_groups).

    Steps between neighbours know nothing of a mean, so a change within the rows, as from a job's first batch to those
    with all of its load, counts once (J. von Neumann, "Distribution of the Ratio of the Mean Square Successive
    Difference to the Variance", Annals of Mathematical Statistics 12, 1941), and not at all where it is left out.
    """
    row = _rows(operator)
    found = (_stepped(one, task_s[:, row == at], batches) for at, one in enumerate(known.variation))
    return dataclasses.replace(known, variation=tuple(found))


def _stepped(known: Variation, task_s: FloatArray, batches: IntArray) -> Variation:
    """The variation of one operator, (n_rows, n) and (n_rows,); shares add up to one, which takes one of n away."""
    total_s = task_s.sum(axis=1)
    shown = total_s > 0
    n = task_s.shape[1]
    if n < 2 or int(shown.sum()) < FEWEST_ROWS:
        return known
    share, once = task_s[shown] / total_s[shown, None], 1.0 / batches[shown]
    mean = share.mean(axis=0)
    if known.mean_squares > YOUNG_WINDOWS * float((mean**2).sum()):
        return known
    squares = (np.diff(share, axis=0) ** 2).sum(axis=1) / (once[1:] + once[:-1]) * n / (n - 1)
    steps = np.sort(squares)[:-1]
    return dataclasses.replace(
        known,
        squares=float(steps.sum()),
        means=float(steps.size),
        mean_squares=float(steps.size * (mean**2).sum()),
    )


class _Step:
    """One window against what was known before it."""

    def __init__(
        self, before: TaskEvidence, window: TaskWindow, row: IntArray, share: FloatArray, total_s: FloatArray
    ) -> None:
        self._before, self._window, self._row, self._share, self._total_s = before, window, row, share, total_s
        self._known, self._batches = np.array(before.share), np.array(before.batches)
        self._shown = total_s[row] > 0
        self._off = np.where(self._shown, share - self._known, 0.0)
        expected = np.zeros(row.size)
        for at, one in enumerate(before.variation):
            expected[row == at] = one.variance(self._known[row == at])
        self._weight = 1.0 / (1.0 / window.batches + 1.0 / self._batches)
        self._deviation = np.sqrt(expected / self._weight)
        self._expected = expected

    def result(self) -> TaskEvidence:
        high = self._off > FAR * self._deviation
        low = self._off < -FAR * self._deviation
        anew = self._anew(high, low)
        ignored = (high | low) & ~anew
        new = self._window.batches * self._window.new_ratio * self._shown
        batches = np.where(anew, self._window.batches, np.maximum(1.0, KEEP**new * self._batches) + new * ~ignored)
        share = self._known + np.where(ignored, 0.0, self._off * new / batches)
        variation = (self._varied(at, one) for at, one in enumerate(self._before.variation))
        return TaskEvidence(
            groups=self._before.groups,
            share=_rounded(np.where(anew, self._share, share)),
            batches=_rounded(batches),
            high=tuple(np.flatnonzero(high & ~anew).tolist()),
            low=tuple(np.flatnonzero(low & ~anew).tolist()),
            variation=tuple(variation),
        )

    def _anew(self, high: BoolArray, low: BoolArray) -> BoolArray:
        """Groups of which what was known does not hold any more."""
        again = np.zeros(high.size, dtype=np.bool_)
        again[list(self._before.high)] |= high[list(self._before.high)]
        again[list(self._before.low)] |= low[list(self._before.low)]
        none, deviation = np.zeros(high.size), self._deviation
        squares = np.divide(self._off, deviation, out=none, where=deviation > 0) ** 2
        n = np.bincount(self._row)
        changed = np.bincount(self._row, np.minimum(squares, CLIPPED)) > n + MISFIT * np.sqrt(2.0 * n)
        begins = np.bincount(self._row, self._known) <= 0  # no window has shown anything of the operator yet
        result: BoolArray = self._shown & (again | (changed | begins)[self._row])
        return result

    def _varied(self, at: int, known: Variation) -> Variation:
        """The operator's variation after this window. Shares add up to one, which takes one of n differences away."""
        known = _told(self._window, self._row, self._total_s, at, known)
        mine = self._row == at
        n = int(mine.sum())
        if n < 2 or self._total_s[at] <= 0 or self._window.new_ratio < DISJOINT:
            return known
        off = self._off[mine] * np.sqrt(self._weight[mine] * n / (n - 1))
        most = np.sqrt(CLIPPED * self._expected[mine])
        off = np.clip(off, -most, most)
        owner = self._window.owner[mine]
        sums = np.bincount(owner[owner >= 0], off[owner >= 0])
        seen = Variation(
            squares=float((off**2).sum()),
            means=float(self._known[mine].sum()),
            mean_squares=float((self._known[mine] ** 2).sum()),
            together=float((sums**2).sum()),
            apart=float((off[owner >= 0] ** 2).sum()),
        )
        return known.plus(seen, KEEP)


def _prior(share: FloatArray) -> Variation:
    """As of tasks elsewhere; all alike where the operator has done nothing yet."""
    share = share if share.any() else np.full(share.size, 1.0 / share.size)
    weight = PRIOR_TASKS / share.size
    mean_squares = weight * float((share**2).sum())
    return Variation(squares=PRIOR_RATIO**2 * mean_squares, means=weight, mean_squares=mean_squares)


def _told(window: TaskWindow, row: IntArray, total_s: FloatArray, at: int, known: Variation) -> Variation:
    """With the spread that the agent tells: `batches` - 1 differences of each group."""
    mine = row == at
    spread_s = window.spread_s.get(int(window.operator[mine][0]))
    free = (window.batches - 1) * window.new_ratio
    if spread_s is None or total_s[at] <= 0 or free <= 0:
        return known
    share = window.task_s[mine] / total_s[at]
    seen = Variation(
        squares=free * share.size * (spread_s / float(total_s[at])) ** 2,
        means=free,
        mean_squares=free * float((share**2).sum()),
    )
    return known.plus(seen, KEEP)


def _totals(operator: IntArray, task_s: FloatArray) -> tuple[IntArray, FloatArray]:
    """The row of each group's operator, and each operator's seconds in a batch."""
    row = _rows(operator)
    return row, np.bincount(row, task_s).astype(np.float64)


def _rows(operator: IntArray) -> IntArray:
    """The place of each group's operator among those there are, in rising order, (n_groups,)."""
    _, row = np.unique(operator, return_inverse=True)
    return row.astype(np.int64)


def _shares(window: TaskWindow, row: IntArray, total_s: FloatArray) -> FloatArray:
    """Each group's part of its operator's seconds."""
    return np.divide(window.task_s, total_s[row], out=np.zeros(row.size), where=total_s[row] > 0)


def _rounded(values: FloatArray) -> tuple[float, ...]:
    """Five digits: they are kept in a status, and nobody knows more. Many are alike."""
    told = values.tolist()
    short = {value: float(f"{value:.5g}") for value in set(told)}
    return tuple([short[value] for value in told])
