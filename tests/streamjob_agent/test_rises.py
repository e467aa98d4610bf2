"""Rows that come faster are news while the second batch that has more of them runs; chance is not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from streamjob_agent.bridge import BatchEnd, RunningBatch
from streamjob_agent.rises import Rises
from streamjob_agent.usual import FEWEST
from streamjob_agent.wire import Risen

QUIET = 4000


def news(rises: Rises, rows: Iterable[int], start: int = 0) -> list[int]:
    """Numbers of the batches that were news while they ran."""
    found = []
    for number, one in enumerate(rows, start=start):
        before = rises.news("q")
        rises.look({"q": RunningBatch(batch_id=number, began_at_s=10.0 * number, rows=one)})
        found += [number] if rises.news("q") != before else []
        rises.take(end(number, one))
    return found


def end(number: int, rows: int) -> BatchEnd:
    return BatchEnd(
        query_id="q",
        run_id="r",
        batch_id=number,
        ended_at_s=10.0 * number + 9.0,
        duration_s=9.0,
        input_rows=rows,
        input_rps=None,
        processed_rps=None,
        lag_rows=None,
    )


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_chance_is_no_news(noise: float) -> None:
    rows = np.random.default_rng(3).lognormal(8.0, noise, QUIET)
    assert len(news(Rises(), rows.astype(int).tolist())) < QUIET / 1000


def test_a_rise_is_news_while_the_second_batch_runs() -> None:
    rises = Rises()
    assert news(rises, [1000] * 20 + [1600, 2400, 2400]) == [21]
    assert rises.news("q") == Risen(batch_id=21, began_at_s=210.0, rows=2400, high_rows=1200)


def test_what_is_read_so_far_is_looked_at_again() -> None:
    rises = Rises()
    assert news(rises, [1000] * 20 + [1600]) == []
    for rows in (100, 900, 2400, 2500):
        rises.look({"q": RunningBatch(batch_id=21, began_at_s=210.0, rows=rows)})
    risen = rises.news("q")
    assert risen is not None
    assert risen.rows == 2400, "told once"


@pytest.mark.parametrize(
    "rows",
    [
        [1000] * 20 + [3000, 1000, 1000, 3000, 400, 400],
        [1000] * (FEWEST - 1) + [3000, 3000],
        [1000] * 20 + [3000, 0, 1000],
    ],
    ids=["one at a time, and fewer", "before a range is known", "a batch without rows is none"],
)
def test_no_news(rows: list[int]) -> None:
    assert news(Rises(), rows) == []


def test_each_query_has_its_own_and_takes_them_with_it() -> None:
    rises = Rises()
    news(rises, [1000] * 20 + [3000])
    rises.look({"other": RunningBatch(batch_id=21, began_at_s=210.0, rows=3000)})
    assert rises.news("other") is None
    rises.look({"q": RunningBatch(batch_id=21, began_at_s=210.0, rows=3000)})
    assert rises.news("q") is not None
    rises.forget(["q", "other"])
    assert rises.news("q") is None
