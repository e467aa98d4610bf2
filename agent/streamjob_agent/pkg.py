"""Hot keys in two halves: partial key grouping (Nasir et al., ICDE 2015) for a user's stateful aggregation.

A key that is heavier than an executor's share cannot be balanced: no placement can split one key group's key. What can
is the query. `two_choices` chains two stateful operators: the first adds up the rows of each batch, those of a hot key
on two key groups with half of them each; the second adds what comes from there to its running totals. The result is
exact, whatever keys are hot in which run: each row is added up once, and each partial result once.

Unlike the paper's sender, which gives a tuple to the candidate that it has sent less, rows go by a hash of their own
values: a task that Spark runs again must send every row where it sent it before. Rows that are equal in all of
`spread_by` stay together.

For a script of the user's; nothing in the agent calls it. pyspark and pandas are imported when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

CANDIDATE = "streamjob_candidate"
MERGES = ("sum", "min", "max")
"""How values of the same column are put together: what does not depend on who is first."""
_MOST_SALTS = 64
"""Numbers tried for a second candidate in another partition than the first: all fail once in p**64."""

Part = Callable[[Any], "tuple[Any, ...]"]


def two_choices(
    frame: Any,
    key: str,
    part: Part,
    *,
    columns: str,
    merge: Mapping[str, str],
    hot: Collection[Any],
    spread_by: Sequence[str] | None = None,
) -> Any:
    """A streaming DataFrame of `key` and `columns`, the running totals of each key; to be written in update mode.

    Hot keys may change from one run of the query to the next. Sums of floating-point columns depend on the order of
    rows in their last digits, as they do without it.

    Args:
        frame: streaming DataFrame with the column `key`; Spark allows no aggregation and no other pandas state before.
        key: name of the key's column; null is a key like others.
        part: `rows -> values`, one for each of `columns`: some rows of one key, as a pandas DataFrame, added up.
        columns: names and types of the values as Spark writes a schema, for example "n long, total long".
        merge: for each of them how two values are put together: sum, min or max.
        hot: keys that get two candidates; others are not split.
        spread_by: columns whose values decide which of the two a row goes to; every column when None.

    Raises ValueError for an unknown column, a name that is taken, and a merge that is missing or not one of the three.
    """
    _check(frame, key, spread_by)
    fields = _fields(frame, columns, merge)
    names = [name for name, _ in fields]
    key_type = frame.schema[key].dataType.simpleString()
    values = ", ".join(f"`{name}` {kind}" for name, kind in fields)
    split = frame.withColumn(CANDIDATE, _candidate(frame, key, hot, list(spread_by or frame.columns)))
    parts = split.groupBy(key, CANDIDATE).applyInPandasWithState(
        _added_up(key, names, part),
        f"`{key}` {key_type}, {CANDIDATE} int, {values}",
        "nothing boolean",
        "append",
        "NoTimeout",
    )
    return _merged(parts, key, [(name, merge[name]) for name in names])


def _merged(parts: Any, key: str, merge: list[tuple[str, str]]) -> Any:
    from pyspark.sql import functions as F

    return parts.groupBy(key).agg(*(getattr(F, how)(name).alias(name) for name, how in merge))


def _check(frame: Any, key: str, spread_by: Sequence[str] | None) -> None:
    for name in (key, *(spread_by or ())):
        if name not in frame.columns:
            raise ValueError(f"two_choices: there is no column '{name}'; there are {', '.join(frame.columns)}")
    if CANDIDATE in frame.columns:
        raise ValueError(f"two_choices: the column '{CANDIDATE}' is taken, it holds the candidate")


def _fields(frame: Any, columns: str, merge: Mapping[str, str]) -> list[tuple[str, str]]:
    """Names and types of the values."""
    fields = frame.sparkSession.createDataFrame([], columns).schema.fields
    for field in fields:
        if merge.get(field.name) not in MERGES:
            told = f"'{merge[field.name]}' given" if field.name in merge else "none given"
            raise ValueError(f"two_choices: merge of '{field.name}': {told}, one of {', '.join(MERGES)} is needed")
    return [(field.name, field.dataType.simpleString()) for field in fields]


def _candidate(frame: Any, key: str, hot: Collection[Any], spread_by: list[str]) -> Any:
    """As a column, 0, or for half of a hot key's rows the number that puts them into another partition."""
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


def _added_up(key: str, names: list[str], part: Part) -> Any:
    """The first operator's function; it must not use this module's names, which executors may not have."""
    candidate = CANDIDATE

    def added_up(group: Any, frames: Any, state: Any) -> Any:
        import pandas as pd

        rows = pd.concat(list(frames), ignore_index=True).drop(columns=[candidate])
        yield pd.DataFrame([(*group, *part(rows))], columns=[key, candidate, *names])

    return added_up
