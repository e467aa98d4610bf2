"""The event-time column that all streams have as `at_ms`, as queries want it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def timed(rows: DataFrame, delay_ms: int, at: str = "at", ms: str = "at_ms") -> DataFrame:
    """The stream with a timestamp that its watermark follows at that distance."""
    return rows.withColumn(at, F.timestamp_millis(ms)).withWatermark(at, f"{delay_ms} milliseconds")


def ends(window: str = "window") -> Column:
    """When a window ends, ms since 1970."""
    return F.unix_millis(F.col(f"{window}.end")).alias("ends_ms")
