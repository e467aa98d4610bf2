"""Series of the stages and parts of each query's batches. All are counters of ended batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client.core import Metric

from streamjob_agent import metric_names as names
from streamjob_agent.families import counter, gauge
from streamjob_agent.totals import QueryPage, StageTotals

_COUNTERS: tuple[tuple[str, str, Callable[[StageTotals], float]], ...] = (
    (
        names.STAGE_WALL_SECONDS,
        "Time from the submission of the stage to its end, over all batches.",
        lambda totals: totals.wall_s,
    ),
    (names.STAGE_BUSY_SECONDS, "Run time of the stage's tasks.", lambda totals: totals.busy_s),
    (
        names.STAGE_LONGEST_SECONDS,
        "Run time of the longest task of each batch, added up.",
        lambda totals: totals.longest_s,
    ),
    (
        names.STAGE_WAIT_SECONDS,
        "Time from the submission of the stage to the launch of each of its tasks, added up: for want of a slot.",
        lambda totals: totals.wait_s,
    ),
)


def stages(pages: tuple[QueryPage, ...]) -> Iterator[Metric]:
    """Every family, with no sample where nothing is known."""
    rows = [((page.query_id, stage), totals) for page in pages for stage, totals in page.stages]
    for name, text, value in _COUNTERS:
        yield counter(name, text, names.STAGE_LABELS, ((labels, value(totals)) for labels, totals in rows))
    yield gauge(
        names.STAGE_LEVEL,
        "The longest way to the stage through stages that ran, 0 for a first one; those of one level run side by side.",
        names.STAGE_LABELS,
        ((labels, totals.level) for labels, totals in rows),
    )
    yield counter(
        names.OPERATOR_SQUARED_SECONDS,
        "Squares of each key group's seconds in each batch, warm-up left out, added up over groups and batches.",
        names.OPERATOR_LABELS,
        (
            ((page.query_id, str(operator)), squared)
            for page in pages
            for operator, squared in sorted(page.squared_s2.items())
        ),
    )
    yield counter(
        names.PART_SECONDS,
        "Time of the parts of the batches as Spark's progress tells it: planning, commits, and so on.",
        names.PART_LABELS,
        (((page.query_id, part), seconds) for page in pages for part, seconds in page.parts_s.items()),
    )
