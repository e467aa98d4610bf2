"""What the adviser reads, and what it says."""

from __future__ import annotations

import dataclasses
import enum


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A stateful operator: its key columns in order, none for one that takes all rows; state in memory, bytes."""

    number: int
    kind: str
    partitions: int
    key: tuple[str, ...]
    state_bytes: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shuffle:
    """A shuffle between `sources` (none: the query's own input) and `target` (None: the sink), by a mean batch.

    `feeds` is the next shuffle where no operator is between. `seconds` are those of tasks, for writing and waiting.
    `rows_before_sums` are the rows that were summed up to `records` before they were written; None where rows are
    written as they are. None elsewhere is "not told".
    """

    number: int
    sources: tuple[int, ...]
    target: int | None
    feeds: int | None
    size_bytes: float | None
    records: float | None
    seconds: float | None
    rows_before_sums: float | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """A query's stateful operators and shuffles, and the pairs of operators that rows pass between within one task."""

    operators: tuple[Operator, ...]
    shuffles: tuple[Shuffle, ...]
    together: tuple[tuple[int, int], ...] = ()


class Need(enum.StrEnum):
    """Why a shuffle is there, or why it need not be."""

    FIRST = "First"  # rows come from the source: they have to be brought to their keys once
    SINK = "Sink"  # asked for after the last operator
    TWICE = "Twice"  # rows are shuffled again before any operator uses where they are
    NO_KEY = "NoKey"  # an operator on one side takes all rows
    APART = "Apart"  # the keys on both sides share no column
    ELSEWHERE = "Elsewhere"  # they do, but an operator is better keyed like others
    ORDER = "Order"  # both sides have the same columns, in another order
    SHARED = "Shared"  # both sides can be spread by the columns that they share


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ShuffleNote:
    """One shuffle and why it is there."""

    shuffle: Shuffle
    need: Need


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AsRows:
    """What shuffles that stay carry differently after a rewrite: `rows` as they come, where `sums` of `sums_bytes` are
    now; of a mean batch, all three above 0."""

    rows: float
    sums: float
    sums_bytes: float

    @property
    def sum_bytes(self) -> float:
        """Bytes of a sum."""
        return self.sums_bytes / self.sums


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A change of the query that leaves out `shuffles`.

    Attributes:
        need: ORDER (list the columns alike), SHARED (spread once by `columns`, see `before`) or TWICE (leave it out).
        operators: those that are keyed alike afterwards.
        columns: what rows are spread by afterwards.
        before: operators before which rows have to be spread by `columns` explicitly.
        saved_bytes, saved_s: of a batch, of the shuffles left out; None where nobody measured.
        as_rows: what shuffles that stay carry as rows, because these are no longer summed up before; None where none
            is. How wide they will be nobody can measure before.
        state_bytes: state that moves together afterwards, partition by partition.
    """

    need: Need
    operators: tuple[int, ...]
    shuffles: tuple[int, ...]
    columns: tuple[str, ...]
    before: tuple[int, ...] = ()
    saved_bytes: float | None
    saved_s: float | None
    as_rows: AsRows | None = None
    state_bytes: float | None = None

    @property
    def net_bytes(self) -> float | None:
        """Bytes that a batch shuffles less; None where nobody measured, or where rows take the place of sums."""
        return None if self.as_rows is not None else self.saved_bytes

    @property
    def even_row_bytes(self) -> float | None:
        """Where rows take the place of sums: bytes of a row with which a batch shuffles as much as before."""
        if self.as_rows is None or self.saved_bytes is None:
            return None
        return (self.saved_bytes + self.as_rows.sums_bytes) / self.as_rows.rows

    @property
    def likely_bytes(self) -> float | None:
        """Bytes that a batch shuffles less if a row is as wide as a sum; below 0 it shuffles more.

        Nothing to promise: it puts rewrites in an order, and tells those that are worth it.
        """
        if self.as_rows is None or self.saved_bytes is None:
            return self.saved_bytes
        return self.saved_bytes - (self.as_rows.rows - self.as_rows.sums) * self.as_rows.sum_bytes

    @property
    def worth_it(self) -> bool:
        """Whether a batch shuffles less afterwards, as far as was measured, with rows as wide as sums."""
        return self.likely_bytes is None or self.likely_bytes > 0.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """All that can be said about a plan: components of operators to key alike, every shuffle, rewrites best first."""

    components: tuple[tuple[int, ...], ...]
    notes: tuple[ShuffleNote, ...]
    rewrites: tuple[Rewrite, ...]
