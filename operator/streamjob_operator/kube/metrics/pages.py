"""The agent's page as it was at one scrape, read back from Prometheus."""

from __future__ import annotations

import functools
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from streamjob_agent import metric_names as names
from streamjob_operator.kube.metrics.http import Connection
from streamjob_operator.kube.metrics.target import Mark, Target, any_of, quoted
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.measure.page import (
    GROUP_COUNTERS,
    GROUP_SIZES,
    SPARSE_COUNTERS,
    STAGE_COUNTERS,
    Page,
    labels_of,
    make_page,
)
from streamjob_operator.measure.page_text import Labels, finite
from streamjob_operator.ports import Incomplete, Unavailable

MOST_SAMPLES = 2_000_000
"""Samples on an agent's page from which it is not read: more than 200,000 key groups, or a page that is not ours."""
QUERY_COUNTERS = (
    names.QUERY_BATCHES,
    names.QUERY_BATCH_SECONDS,
    names.QUERY_INPUT_ROWS,
    names.QUERY_OTHER_BUSY_SECONDS,
    names.QUERY_TRAFFIC_BATCHES,
)
COUNTERS = (
    *GROUP_COUNTERS,
    *SPARSE_COUNTERS,
    *QUERY_COUNTERS,
    *STAGE_COUNTERS,
    names.OPERATOR_SQUARED_SECONDS,
    names.EXECUTOR_BUSY_SECONDS,
    names.TRAFFIC_BYTES,
)
GAUGES = (
    names.STAGE_LEVEL,
    names.EXECUTOR_MEMORY_USED,
    names.EXECUTOR_MEMORY_LIMIT,
    names.EXECUTOR_STATE_LIMIT,
    *GROUP_SIZES,
    names.GROUP_PINNED,
    names.QUERY_LAST_BATCH_SECONDS,
    names.QUERY_LAST_BATCH_TIMESTAMP,
    names.QUERY_TRIGGER_SECONDS,
    names.QUERY_LAG_ROWS,
    names.QUERY_IDLE_SINCE,
    names.QUERY_RUNNING_ROWS,
    names.QUERY_RUNNING_SINCE,
)
REQUIRED = (*GROUP_COUNTERS, *QUERY_COUNTERS[:3])
_KEPT = sorted({"__name__", "operator", "partition", "executor", "stage", *names.TRAFFIC_LABELS[1:]})


def read_page(
    connection: Connection, target: Target, mark: Mark, wanted: Iterable[str], groups: int, skew_s: float
) -> Page:
    """Series `wanted` at a scrape, its time on the operator's clock.

    At the time of a scrape an instant query gives exactly that scrape: what was not in it is marked stale there.
    Raises Unavailable, or Incomplete when a series without which nothing can be said is not there at all.
    """
    _, query_id, run_id = mark.identity
    series: dict[str, dict[Labels, float]] = defaultdict(dict)
    for part in _parts(tuple(wanted), whole=groups <= connection.limits.one_query_groups):
        selector = target.selector(any_of(part), f"query=~{quoted(query_id + '|')}")
        for one in connection.query(f"max by ({', '.join(_KEPT)}) ({selector})", mark.at_s):
            labels = one["metric"]
            name = labels.get("__name__", "")
            in_order = _in_order(name)
            if in_order is None:
                continue
            labels["query"] = query_id
            try:
                series[name][in_order(labels)] = finite(one["value"][1])
            except (KeyError, ValueError):
                continue  # a series that lacks one of its labels, or has no number, is not the agent's
    _check(target, query_id, [name for name in REQUIRED if not series.get(name)])
    series[names.AGENT_INFO][(target.application_id,)] = 1.0
    series[names.QUERY_INFO][(query_id, run_id)] = 1.0
    return make_page(series, mark.at_s - skew_s)


@functools.lru_cache(maxsize=128)  # names are whatever a Prometheus answers with
def _in_order(name: str) -> Callable[[Mapping[str, str]], Labels] | None:
    """From all labels of a series to those of the contract, in its order; None where it is not in the contract."""
    order = labels_of(name)
    if order is None or len(order) > 1:
        return None if order is None else operator.itemgetter(*order)
    (label,) = order
    return lambda labels: (labels[label],)


def _parts(wanted: tuple[str, ...], *, whole: bool) -> Iterator[tuple[str, ...]]:
    """Names for one query each: a large page is asked for kind by kind, so that memory stays bounded."""
    if whole:
        yield wanted
        return
    of_groups = {*GROUP_COUNTERS, *SPARSE_COUNTERS, *GROUP_SIZES}
    yield from ((name,) for name in wanted if name in of_groups)
    yield tuple(name for name in wanted if name not in of_groups)


def check_size(target: Target, samples: int | None) -> None:
    """Raises Unavailable when the agent's page has too many samples to be read."""
    if samples is not None and samples > MOST_SAMPLES:
        raise Unavailable(
            f"The agent at {target.name} gives Prometheus {samples} samples, {MOST_SAMPLES} can be read.",
            code=KubeReason.SERIES_MISSING,
        )


def check_same_groups(start: Page, end: Page, expected: int, target: Target) -> None:
    """Raises Incomplete when key groups are missing at either end of the window.

    A group that is missing at the start would seem to have done all its work since the driver began within the window.
    """
    missing = 0 if end.group_ids == start.group_ids else len(set(end.group_ids) - set(start.group_ids))
    if missing:
        raise Incomplete(
            f"{missing} of {len(end.group_ids)} key groups have no series at the beginning of the window: Prometheus "
            f"has kept only parts of the page of {target.name} at that time.",
            code=KubeReason.SERIES_MISSING,
        )
    if len(end.group_ids) < expected:
        raise Incomplete(
            f"Prometheus has series of {len(end.group_ids)} of {expected} key groups of {target.name}; are some "
            "dropped by relabelling?",
            code=KubeReason.SERIES_MISSING,
        )


def _check(target: Target, query_id: str, missing: list[str]) -> None:
    if missing:
        raise Incomplete(
            f"Prometheus scrapes the agent at {target.name}, but has no {', no '.join(missing)} of query {query_id}; "
            "are they dropped by relabelling?",
            code=KubeReason.SERIES_MISSING,
        )
