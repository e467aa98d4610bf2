"""Processors take their arguments by the names by which Spark gives them: jobs' and the compatibility table's."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))

pytest.importorskip("pyspark.sql.streaming.stateful_processor", reason="Spark 4.0 and newer have it")

from e2e.compatibility import processors
from jobs.daily import fraud
from pyspark.sql.streaming.stateful_processor import StatefulProcessor


@pytest.mark.parametrize("processor", [processors.Timers, processors.Lives, fraud.TestedCards, fraud.NewShops])
def test_timers_are_told_by_sparks_names(processor: type) -> None:
    theirs = inspect.signature(StatefulProcessor.handleExpiredTimer).parameters
    assert list(inspect.signature(processor.handleExpiredTimer).parameters) == list(theirs)
