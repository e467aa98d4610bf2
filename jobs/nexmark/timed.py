"""The event-time column of NEXMark's streams, for queries and for answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jobs.nexmark.events import DELAY_MS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DELAY = f"{DELAY_MS} milliseconds"


def timed(rows: DataFrame) -> DataFrame:
    """The stream with `at`, which its watermark follows."""
    return rows.withColumn("at", F.timestamp_millis("at_ms")).withWatermark("at", DELAY)


def ends(window: str = "window") -> Column:
    """When a window ends, ms since 1970."""
    return F.unix_millis(F.col(f"{window}.end")).alias("ends_ms")
