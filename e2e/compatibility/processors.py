"""State of a user's own, for Spark 4 and newer: a module that executors' Python workers import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from e2e.compatibility.lines import CLOSING_KEY, CLOSING_S, FILE_S

LAST_MS = 1000 * (CLOSING_S - 1000)


class Timers(StatefulProcessor):
    """Totals in a value, different values in a map; a first timer counts itself, a last one tells all."""

    SCHEMA = "k string, n long, s long, different long, fired long"

    def init(self, handle: Any) -> None:
        """Three column families, and those of the timers."""
        self._handle = handle
        self._totals = handle.getValueState("totals", "n long, s long")
        self._seen = handle.getMapState("seen", "v long", "n long")
        self._fired = handle.getValueState("fired", "n long")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timers: Any) -> Iterator[Any]:  # noqa: N802 - Spark's
        """Adds up; says nothing yet."""
        frame = pd.concat(list(rows))
        if key[0] != CLOSING_KEY:
            if not self._totals.exists():
                first_ms = 1000 * int(frame["t"].max().timestamp())
                self._handle.registerTimer(first_ms + 2000 * FILE_S)
                self._handle.registerTimer(LAST_MS)
            count, total = self._totals.get() if self._totals.exists() else (0, 0)
            self._totals.update((int(count) + len(frame), int(total) + int(frame["v"].sum())))
            for value in frame["v"].unique():
                self._seen.updateValue((int(value),), (1,))
        yield pd.DataFrame([], columns=["k", "n", "s", "different", "fired"])

    def handleExpiredTimer(  # noqa: N802 - Spark's
        self,
        key: Any,
        timerValues: Any,  # noqa: N803 - Spark gives them by these names
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """The first one is counted, the last one tells."""
        if expiredTimerInfo.getExpiryTimeInMs() < LAST_MS:
            fired = int(self._fired.get()[0]) if self._fired.exists() else 0
            self._fired.update((fired + 1,))
            return
        count, total = self._totals.get()
        different = len(list(self._seen.keys()))
        fired = int(self._fired.get()[0]) if self._fired.exists() else 0
        yield pd.DataFrame({"k": [key[0]], "n": [count], "s": [total], "different": [different], "fired": [fired]})

    def close(self) -> None:
        """Nothing is held."""


class Lives(StatefulProcessor):
    """Number and sum of a key's lines, each in a value of its own that lives on."""

    SCHEMA = "k string, n long, s long"

    def __init__(self, lives_ms: int) -> None:
        self._lives_ms = lives_ms

    def init(self, handle: Any) -> None:
        """Two column families, and those that hold their ends."""
        self._count = handle.getValueState("count", "n long", ttlDurationMs=self._lives_ms)
        self._sum = handle.getValueState("sum", "s long", ttlDurationMs=self._lives_ms)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timers: Any) -> Iterator[Any]:  # noqa: N802 - Spark's
        """The totals so far."""
        frame = pd.concat(list(rows))
        count = (int(self._count.get()[0]) if self._count.exists() else 0) + len(frame)
        total = (int(self._sum.get()[0]) if self._sum.exists() else 0) + int(frame["v"].sum())
        self._count.update((count,))
        self._sum.update((total,))
        yield pd.DataFrame({"k": [key[0]], "n": [count], "s": [total]})

    def close(self) -> None:
        """Nothing is held."""
