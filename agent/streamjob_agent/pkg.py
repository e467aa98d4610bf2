"""Hot keys in two halves: partial key grouping (Nasir et al., ICDE 2015) for a user's stateful aggregation.

A key that is heavier than an executor's share cannot be balanced: no placement can split one key group's key. What can
is the query. `two_choices` chains two stateful operators: the first keeps a partial result of each hot key on two
key groups, each with half of its rows; the second merges the two. The result is exact, batch by batch: partial results
are running totals, and the second operator keeps the newest of each.

Unlike the paper's sender, which gives a tuple to the candidate that it has sent less, rows go by a hash of their own
values: a task that Spark runs again must send every row where it sent it before. Rows that are equal in all of
`spread_by` stay together.

For a script of the user's; nothing in the agent calls it. pyspark and pandas are imported when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

CANDIDATE = "streamjob_candidate"
_MOST_SALTS = 64
"""Numbers tried for a second candidate in another partition than the first: all fail once in p**64."""

Update = Callable[[Any, "tuple[Any, ...] | None"], "tuple[Any, ...]"]
Merge = Callable[["tuple[Any, ...]", "tuple[Any, ...]"], "tuple[Any, ...]"]


def two_choices(
    frame: Any,
    key: str,
    update: Update,
    merge: Merge,
    *,
    state: str,
    hot: Collection[Any],
    spread_by: Sequence[str] | None = None,
) -> Any:
    """A streaming DataFrame of `key` and the columns of `state`, the newest values of each key that changed.

    To be written in append mode: Spark chains two of these operators in no other, and here it means that every row is
    the newest of its key, to be written over the one before. Hot keys may change from one run of the query to the
    next: what was added up before stays where it is and is merged all the same, as long as a key has no more than two
    candidates in its life.

    Args:
        frame: streaming DataFrame with the column `key`.
        key: name of the key's column; null is a key like others.
        update: `(rows, held) -> values`: rows of one key as a pandas DataFrame, what is held for them, None at first.
        merge: `(values, values) -> values`: of two parts of a key's rows; must not depend on their order.
        state: columns of the values as Spark writes a schema, for example "n long, total long".
        hot: keys that get two candidates; others are not split.
        spread_by: columns whose values decide which of the two a row goes to; every column when None.

    Raises ValueError for an unknown column or a name that is taken. A query without any hot key needs none of this.
    """
    _check(frame, key, spread_by)
    fields = _fields(frame, state)
    key_type = frame.schema[key].dataType.simpleString()
    names = ", ".join(f"`{name}` {kind}" for name, kind in fields)
    halves = ", ".join(f"`{side}_{name}` {kind}" for side in ("first", "second") for name, kind in fields)
    split = frame.withColumn(CANDIDATE, _candidate(frame, key, hot, list(spread_by or frame.columns)))
    parts = split.groupBy(key, CANDIDATE).applyInPandasWithState(
        _part(key, [name for name, _ in fields], update),
        f"`{key}` {key_type}, {CANDIDATE} int, {names}",
        names,
        "append",
        "NoTimeout",
    )
    return parts.groupBy(key).applyInPandasWithState(
        _whole(key, [name for name, _ in fields], merge),
        f"`{key}` {key_type}, {names}",
        f"has_first boolean, has_second boolean, {halves}",
        "append",
        "NoTimeout",
    )


def _check(frame: Any, key: str, spread_by: Sequence[str] | None) -> None:
    for name in (key, *(spread_by or ())):
        if name not in frame.columns:
            raise ValueError(f"two_choices: there is no column '{name}'; there are {', '.join(frame.columns)}")
    if CANDIDATE in frame.columns:
        raise ValueError(f"two_choices: the column '{CANDIDATE}' is taken, it holds the candidate")


def _fields(frame: Any, state: str) -> list[tuple[str, str]]:
    """Names and types of a schema in words."""
    from pyspark.sql.types import StructType

    schema = frame.sparkSession.createDataFrame([], state).schema
    if not isinstance(schema, StructType) or not schema.fields:
        raise ValueError(f"two_choices: state '{state}' names no column; for example \"n long, total long\"")
    return [(field.name, field.dataType.simpleString()) for field in schema.fields]


def _candidate(frame: Any, key: str, hot: Collection[Any], spread_by: list[str]) -> Any:
    """A column that is 0, or for half of a hot key's rows the number that puts them into another partition."""
    from pyspark.sql import functions as F

    column = F.lit(0)
    half = F.pmod(F.xxhash64(*spread_by), F.lit(2)) == 1
    for value, salt in _salts(frame, key, hot).items():
        column = F.when(F.col(key).eqNullSafe(F.lit(value)) & half, F.lit(salt)).otherwise(column)
    return column.cast("int")


def _salts(frame: Any, key: str, hot: Collection[Any]) -> dict[Any, int]:
    """For each hot key a number from 1 on whose rows Spark's hash puts into another partition than number 0's."""
    from pyspark.sql import functions as F

    session = frame.sparkSession
    partitions = int(session.conf.get("spark.sql.shuffle.partitions"))
    kind = frame.schema[key].dataType
    found: dict[Any, int] = {}
    for value in hot:
        where = [
            F.pmod(F.hash(F.lit(value).cast(kind), F.lit(salt).cast("int")), F.lit(partitions)).alias(str(salt))
            for salt in range(_MOST_SALTS)
        ]
        row = session.range(1).select(*where).first()
        found[value] = next((salt for salt in range(1, _MOST_SALTS) if row[salt] != row[0]), 1)
    return found


def _part(key: str, names: list[str], update: Update) -> Any:
    """The first operator's function; it must not use this module's names, which executors may not have."""
    candidate = CANDIDATE

    def part(group: Any, frames: Any, state: Any) -> Any:
        import pandas as pd

        rows = pd.concat(list(frames), ignore_index=True).drop(columns=[candidate])
        values = tuple(update(rows, tuple(state.get) if state.exists else None))
        state.update(values)
        yield pd.DataFrame([(*group, *values)], columns=[key, candidate, *names])

    return part


def _whole(key: str, names: list[str], merge: Merge) -> Any:
    """The second operator's function: the newest partial result of each candidate, merged."""
    candidate = CANDIDATE
    width = len(names)

    def whole(group: Any, frames: Any, state: Any) -> Any:
        import pandas as pd

        held = list(state.get) if state.exists else [False, False, *[None] * (2 * width)]
        for row in (
            pd.concat(list(frames), ignore_index=True)[[candidate, *names]].astype(object).itertuples(index=False)
        ):
            side = 0 if row[0] == 0 else 1
            held[side] = True
            held[2 + side * width : 2 + (side + 1) * width] = list(row[1:])
        state.update(tuple(held))
        parts = [tuple(held[2 + side * width : 2 + (side + 1) * width]) for side in (0, 1) if held[side]]
        values = parts[0] if len(parts) == 1 else merge(*parts)
        yield pd.DataFrame([(*group, *values)], columns=[key, *names])

    return whole
