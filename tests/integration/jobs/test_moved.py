"""Jobs on real executors, their key groups on the move: one with three levels of state, one with an outer join in time.

`make jobs` runs all of them, with more input.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[3]))

pytest.importorskip("pyspark.sql.streaming.stateful_processor", reason="Spark 4.0 and newer have it")

from jobs.moves import moving
from jobs.registry import find
from jobs.trial import run, sentences

pytestmark = pytest.mark.spark


def test_jobs_stay_exact_while_their_key_groups_move(spark_cluster: Any, tmp_path: Path) -> None:
    with moving(spark_cluster.session, seed=3, drain=tmp_path / "drain") as mover:
        for name in ("nexmark-5", "ads-clicked"):
            outcome = run(spark_cluster.session, find(name), tmp_path / name, seed=3, rows=100, batches=5, mover=mover)
            assert outcome.exact, "\n".join(sentences(outcome))
