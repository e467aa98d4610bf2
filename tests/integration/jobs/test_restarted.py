"""A query of two streams that is started again while one of them is silent: its answer is still known."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[3]))

pytest.importorskip("pyspark.sql.streaming.stateful_processor", reason="Spark 4.0 and newer have it")

from jobs import feed, running
from jobs.chance import START_MS
from jobs.checking import check
from jobs.job import Batch, Row
from jobs.registry import find

pytestmark = pytest.mark.spark


def shown(view: int, at_s: int) -> Row:
    return {"view": view, "ad": 1, "at_ms": START_MS + 1_000 * at_s}


def clicked(view: int, at_s: int) -> Row:
    return {"viewed": view, "at_ms": START_MS + 1_000 * at_s}


def test_an_answer_knows_what_spark_forgets_when_a_query_is_started_again(spark_cluster: Any, tmp_path: Path) -> None:
    """Without clicks the watermark stays where it was, though the ads went on and no click is behind them."""
    job, given = find("ads-clicked"), tmp_path / "input"
    feed.prepare(job, given)
    read = running.reader(spark_cluster.session, job, given)
    batches: tuple[Batch, ...] = (
        {"shown": [shown(1, 0), shown(2, 10)], "clicks": [clicked(1, 300)]},
        {"shown": [shown(3, 200)]},
        {"shown": [shown(4, 220)], "clicks": [clicked(4, 230)]},
        {"shown": [shown(5, 600)], "clicks": [clicked(5, 600)]},
    )
    for number, batch in enumerate(batches):
        feed.publish(batch, given, number, changed_s=feed.FIRST_S + number)
        query = running.start(job.queries[0], read, tmp_path / "run")
        try:
            query.processAllAvailable()
        finally:
            query.stop()
    assert check(job, given, tmp_path / "run") == []
