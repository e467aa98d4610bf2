"""The queries that users run, over one kind of lines: plain PySpark, with no word of StreamJob."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from e2e.compatibility import answers
from e2e.compatibility.answers import JOIN_S, SESSION_S, Answer

DELAY = "5 seconds"
FOREVER_MS = 3_600_000
POLL_S = 0.2
Read = Callable[[], Any]
"""A stream of lines: `k` string, `v` long, `t` timestamp. Each call is a source of its own."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A query, its output mode, and its answer; where rows change, the newest of each key counts.

    `rests` is whether its batches end with its input: by the clock's time, another one always follows.
    """

    build: Callable[[Read], Any]
    answer: Answer
    mode: str = "append"
    rests: bool = True

    @property
    def newest(self) -> bool:
        """Whether a row replaces the one before of its key."""
        return self.mode == "update"

    def take_in(self, query: Any, files: int) -> None:
        """Wait until a query has said all it has to say of that many files, one a batch.

        Raises StreamingQueryException when it fails.
        """
        if self.rests:
            query.processAllAvailable()
        while not self.rests and query.isActive and _taken(query) < files:
            time.sleep(POLL_S)


def _taken(query: Any) -> int:
    """How many files the newest batch that has ended, and those before it, took in."""
    progress = query.lastProgress
    ends = [re.search(r"logOffset\W+(\d+)", str(one["endOffset"])) for one in progress["sources"]] if progress else []
    return min((int(one[1]) + 1 if one else 0 for one in ends), default=0)


def counts(read: Read) -> Any:
    """An aggregation."""
    from pyspark.sql import functions as F

    return read().groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("s"))


def odd(read: Read) -> Any:
    """A filter: no state."""
    return read().where("v % 2 = 1").select("k", "v")


def once(read: Read) -> Any:
    """Deduplication that forgets."""
    return read().withWatermark("t", DELAY).dropDuplicatesWithinWatermark(["k", "v"]).select("k", "v")


def sessions(read: Read) -> Any:
    """Session windows."""
    from pyspark.sql import functions as F

    window = F.session_window("t", f"{SESSION_S} seconds")
    found = read().withWatermark("t", DELAY).groupBy("k", window).agg(F.count("*").alias("n"))
    ends = (F.col(f"session_window.{end}").cast("long") for end in ("start", "end"))
    return found.select("k", *ends, "n")


def inner(read: Read) -> Any:
    """Two streams joined in time."""
    return _joined(read, "inner")


def outer(read: Read) -> Any:
    """The same, with lines that find no other."""
    return _joined(read, "leftOuter")


def _joined(read: Read, how: str) -> Any:
    from pyspark.sql import functions as F

    left = read().where("v % 2 = 0").selectExpr("k AS lk", "v AS lv", "t AS lt").withWatermark("lt", DELAY)
    right = read().where("v % 2 = 1").selectExpr("k AS rk", "v AS rv", "t AS rt").withWatermark("rt", DELAY)
    near = F.expr(f"lk = rk AND rt >= lt AND rt <= lt + INTERVAL {JOIN_S} SECONDS")
    return left.join(right, near, how).select("lk", "lv", "rv")


def in_pandas(read: Read) -> Any:
    """State of one's own, as before Spark 4."""
    from pyspark.sql.streaming.state import GroupStateTimeout

    return (
        read()
        .groupBy("k")
        .applyInPandasWithState(
            _count_and_sum, "k string, n long, s long", "n long, s long", "update", GroupStateTimeout.NoTimeout
        )
    )


def _count_and_sum(key: Any, frames: Iterator[Any], state: Any) -> Iterator[Any]:
    import pandas as pd

    count, total = state.get if state.exists else (0, 0)
    for frame in frames:
        count, total = count + len(frame), total + int(frame["v"].sum())
    state.update((count, total))
    yield pd.DataFrame({"k": [key[0]], "n": [count], "s": [total]})


def timers(read: Read) -> Any:
    """State of one's own in several column families, with timers of event time."""
    return _transformed(read, "EventTime")


def lives(read: Read) -> Any:
    """State of one's own with times to live."""
    return _transformed(read, "ProcessingTime")


def _transformed(read: Read, time_mode: str) -> Any:
    from e2e.compatibility.processors import Lives, Timers

    lines = read().withWatermark("t", DELAY).groupBy("k")
    if time_mode == "EventTime":
        return lines.transformWithStateInPandas(Timers(), Timers.SCHEMA, "Append", time_mode)
    return lines.transformWithStateInPandas(Lives(FOREVER_MS), Lives.SCHEMA, "Update", time_mode)


SHAPES = {
    "counts": Shape(build=counts, answer=answers.counts, mode="update"),
    "stateless": Shape(build=odd, answer=answers.odd),
    "once": Shape(build=once, answer=answers.once),
    "sessions": Shape(build=sessions, answer=answers.sessions),
    "inner": Shape(build=inner, answer=answers.inner),
    "outer": Shape(build=outer, answer=answers.outer),
    "in-pandas": Shape(build=in_pandas, answer=answers.counts, mode="update"),
    "timers": Shape(build=timers, answer=answers.timers),
    "lives": Shape(build=lives, answer=answers.counts, mode="update", rests=False),
}
