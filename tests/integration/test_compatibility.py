"""Two rows of the compatibility table: several queries of one driver, and state of a user's own with timers.

`make spark-compatibility` runs all of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))

from e2e.compatibility.page import line
from e2e.compatibility.rows import find
from e2e.compatibility.trial import run

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("name", ["together", "timers"])
def test_a_row_is_exact_while_everything_happens_to_it(name: str, tmp_path: Path) -> None:
    outcome = run(find(name), tmp_path)
    if outcome.not_run is not None:
        pytest.skip(outcome.not_run)
    assert outcome.good, line(outcome)
