"""Two rows of the compatibility table in one driver: several queries, and one with state of a user's own and timers.

`make spark-compatibility` runs all of them, each alone.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pyspark
import pytest

sys.path.append(str(Path(__file__).parents[2]))

from e2e.compatibility.page import line
from e2e.compatibility.rows import find
from e2e.compatibility.trial import run

pytestmark = pytest.mark.spark


def test_rows_are_exact_while_everything_happens_to_them(tmp_path: Path) -> None:
    together, timers = find("together"), find("timers")
    assert set(timers.acts) <= set(together.acts)
    has_timers = tuple(int(part) for part in pyspark.__version__.split(".")[:2]) >= timers.since
    queries = {**together.queries, **(timers.queries if has_timers else {})}
    outcome = run(dataclasses.replace(together, queries=queries), tmp_path)
    if outcome.not_run is not None:
        pytest.skip(outcome.not_run)
    assert outcome.good, line(outcome)
