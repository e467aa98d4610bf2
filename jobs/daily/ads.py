"""Ads that were shown and clicked: an outer join in time, which also says which ones were not clicked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F

from jobs.chance import START_MS, numbers, times_ms, zipf
from jobs.job import Batch, Job, Query, Read, Row, Rows, Taken
from jobs.timed import timed
from jobs.watermarks import column, marks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SPAN_MS, SHOWN_DELAY_MS, CLICK_DELAY_MS, CLICKED_WITHIN_MS = 20_000, 5_000, 8_000, 30_000


def generate(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Three ads are shown for each click; a click comes up to 40 s after its ad, some in a later batch."""
    since_ms, number = START_MS, 0
    waiting: Rows = []
    count = max(4, rows * 3 // 4)
    while True:
        times = times_ms(rng, since_ms, SPAN_MS, count, late_ratio=0.03, late_ms=20_000)
        ads = zipf(rng, 200, 1.0, count, number // 500)
        shown = [{"view": number + i, "ad": ads[i], "at_ms": at_ms} for i, at_ms in enumerate(times)]
        after_ms = numbers(rng, 0, 40_000, count)
        chosen = np.flatnonzero(rng.random(count) < 1 / 3)
        waiting += [{"viewed": number + int(i), "at_ms": times[i] + after_ms[i]} for i in chosen]
        since_ms, number = since_ms + SPAN_MS, number + count
        yield {"shown": shown, "clicks": [one for one in waiting if one["at_ms"] < since_ms]}
        waiting = [one for one in waiting if one["at_ms"] >= since_ms]


def build(read: Read) -> DataFrame:
    """Every ad that was shown, with its click within 30 s or without one."""
    shown = timed(read("shown"), SHOWN_DELAY_MS, "shown_at").withColumnRenamed("at_ms", "shown_ms")
    clicks = timed(read("clicks"), CLICK_DELAY_MS, "clicked_at").withColumnRenamed("at_ms", "clicked_ms")
    soon = F.expr(
        "view = viewed AND clicked_at >= shown_at "
        f"AND clicked_at <= shown_at + INTERVAL {CLICKED_WITHIN_MS // 1000} SECONDS"
    )
    return shown.join(clicks, soon, "leftOuter").select("view", "ad", "shown_ms", "clicked_ms")


def answer(taken: Sequence[Taken]) -> list[Rows]:
    """A pair comes at once; an ad without a click once none can come in time any more."""
    shown: dict[int, Row] = {}
    clicks: dict[int, int] = {}
    clicked: set[int] = set()
    found = []
    clocks = ((column("shown"), SHOWN_DELAY_MS), (column("clicks"), CLICK_DELAY_MS))
    for mark, batch in zip(marks(taken, *clocks), taken, strict=True):
        views = {one["view"]: one for one in batch.rows.get("shown", ()) if one["at_ms"] > mark.late_ms}
        new = {one["viewed"]: one["at_ms"] for one in batch.rows.get("clicks", ()) if one["at_ms"] > mark.late_ms}
        pairs = [(views[view], clicks[view]) for view in views if view in clicks]
        shown |= views
        pairs += [(shown[view], at_ms) for view, at_ms in new.items() if view in shown]
        clicks |= new
        out = [_row(one, at_ms) for one, at_ms in pairs if 0 <= at_ms - one["at_ms"] <= CLICKED_WITHIN_MS]
        clicked |= {row["view"] for row in out}
        over = [view for view, one in shown.items() if one["at_ms"] <= mark.now_ms - CLICKED_WITHIN_MS - 1]
        out += [_row(shown[view], None) for view in over if view not in clicked]
        for view in over:
            del shown[view]
        clicks = {view: at_ms for view, at_ms in clicks.items() if at_ms > mark.now_ms - 1}
        found.append(out)
    return found


def _row(shown: Row, clicked_ms: int | None) -> Row:
    return {"view": shown["view"], "ad": shown["ad"], "shown_ms": shown["at_ms"], "clicked_ms": clicked_ms}


JOBS = (
    Job(
        name="ads-clicked",
        source="daily use",
        about="ads with their click within 30 s, or without one: an outer join in time",
        streams={"shown": "view long, ad long, at_ms long", "clicks": "viewed long, at_ms long"},
        generate=generate,
        queries=(Query(name="clicked", build=build, answer=answer),),
    ),
)
