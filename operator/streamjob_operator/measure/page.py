"""One metrics page of the agent as arrays: parsed once, kept small."""

from __future__ import annotations

import copy
import dataclasses
import functools
import sys
from collections import Counter
from collections.abc import Mapping

import numpy as np

from streamjob_agent import metric_names as names
from streamjob_agent.wire import MOST_CORES, MOST_GROUPS, MOST_OPERATORS
from streamjob_operator.measure.page_text import MOST_LINES, Labels, TooManyLines, series_of
from streamjob_operator.measure.weight import held_bytes, pairs_bytes
from streamjob_operator.ports import Ended, Unavailable
from streamjob_operator.queries import too_many
from streamjob_planners.model import FloatArray, GroupId

Series = Mapping[Labels, float]
GROUP_COUNTERS = (names.GROUP_BUSY_SECONDS, names.GROUP_CPU_SECONDS, names.GROUP_RECORDS)
SPARSE_COUNTERS = (
    names.GROUP_WARMUP_SECONDS,
    names.GROUP_SENT_BYTES,
    names.GROUP_LOCAL_BYTES,
    names.GROUP_REMOTE_BYTES,
)
"""Counters of key groups that a page may lack, which means 0."""
GROUP_SIZES = (names.GROUP_STATE_BYTES, names.GROUP_STATE_MEMORY)
MOST_KNOWN_GROUPS = 20_000
"""Ids of key groups that all pages share; of others each page has its own."""
STAGE_COUNTERS = (
    names.STAGE_WALL_SECONDS,
    names.STAGE_BUSY_SECONDS,
    names.STAGE_LONGEST_SECONDS,
    names.STAGE_WAIT_SECONDS,
)
QUERY_SERIES = (
    names.QUERY_BATCHES,
    names.QUERY_BATCH_SECONDS,
    names.QUERY_LAST_BATCH_SECONDS,
    names.QUERY_LAST_BATCH_TIMESTAMP,
    names.QUERY_TRIGGER_SECONDS,
    names.QUERY_INPUT_ROWS,
    names.QUERY_LAG_ROWS,
    names.QUERY_IDLE_SINCE,
    names.QUERY_RUNNING_ROWS,
    names.QUERY_RUNNING_SINCE,
    names.QUERY_OTHER_BUSY_SECONDS,
    names.QUERY_MOVED_GROUPS,
    names.QUERY_TRAFFIC_BATCHES,
)
"""Of each query, one value."""
_LABELS: Mapping[str, Labels] = {
    **dict.fromkeys(QUERY_SERIES, ("query",)),
    **dict.fromkeys(
        (*GROUP_COUNTERS, *SPARSE_COUNTERS, *GROUP_SIZES, names.GROUP_EXECUTOR_ID, names.GROUP_PINNED),
        names.GROUP_LABELS,
    ),
    names.TRAFFIC_BYTES: names.TRAFFIC_LABELS,
    **dict.fromkeys((*STAGE_COUNTERS, names.STAGE_LEVEL), names.STAGE_LABELS),
    names.OPERATOR_SQUARED_SECONDS: names.OPERATOR_LABELS,
    names.PART_SECONDS: names.PART_LABELS,
    names.EXECUTOR_CORES: ("executor", "host"),
    names.EXECUTOR_STATE: ("executor", "state"),
    **dict.fromkeys(
        (names.EXECUTOR_BUSY_SECONDS, names.EXECUTOR_MEMORY_USED, names.EXECUTOR_MEMORY_LIMIT), ("executor",)
    ),
    names.EXECUTOR_STATE_LIMIT: names.EXECUTOR_STATE_LABELS,
    names.QUERY_INFO: ("query", "run"),
    names.AGENT_INFO: ("application",),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What one scrape saw of one query. Counters are totals since the driver started.

    `group_ids` are in order; `counters[name]` and `state_bytes` are (n_groups,); `owners` None where unknown.
    `query` holds the query's own series by name, `executors` (id, host) -> cores. `stages` holds stage -> value by
    series, `parts_s` is by part of the batches, `squared_s2` by operator; all are empty where an agent does not tell.
    `state_memory_bytes` is (n_groups,), 0.0 where a group does not tell, None where none does; `state_limit_bytes` is
    by executor. `pinned` groups stay where they are, in order. `own_bytes` is what all but `group_ids`, which pages
    share, holds in memory.
    """

    at_s: float
    application_id: str
    query_id: str
    run_id: str
    group_ids: tuple[GroupId, ...]
    owners: tuple[str | None, ...]
    counters: Mapping[str, FloatArray]
    state_bytes: FloatArray
    traffic: Mapping[tuple[GroupId, GroupId], float]
    executors: Mapping[tuple[str, str], int]
    executor_states: Mapping[str, str]
    executor_busy_s: Mapping[str, float]
    memory_used_bytes: Mapping[str, float]
    memory_limit_bytes: Mapping[str, float]
    state_memory_bytes: FloatArray | None
    state_limit_bytes: Mapping[str, float]
    query: Mapping[str, float]
    stages: Mapping[str, Mapping[str, float]]
    squared_s2: Mapping[int, float]
    parts_s: Mapping[str, float]
    pinned: tuple[GroupId, ...] = ()
    own_bytes: int = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Weigh it: who made the agent decides how large it is."""
        object.__setattr__(self, "own_bytes", _own_bytes(self))

    def sharing(self, group_ids: tuple[GroupId, ...]) -> Page:
        """The same page with ids that are equal to its own and held already; what it weighs does not change."""
        shared = copy.copy(self)
        object.__setattr__(shared, "group_ids", group_ids)
        return shared

    @property
    def identity(self) -> tuple[str, str, str]:
        """Driver, query and run: counters of another identity start anew."""
        return self.application_id, self.query_id, self.run_id

    @property
    def batches(self) -> float:
        """Finished batches of the query."""
        return self.query.get(names.QUERY_BATCHES, 0.0)


def parse_pages(body: bytes, at_s: float) -> tuple[Page, ...]:
    """Read a page scraped at at_s, a value for each running query with key groups, that with most of them first.

    Raises Unavailable when it is cut off, or no query with state runs yet; Ended when none runs any more.
    """
    series = _series(body)
    return tuple(_page(series, at_s, query) for query in _running_queries(series))


def make_page(series: Mapping[str, Series], at_s: float) -> Page:
    """A page of the query with most key groups from its series; raises as :func:`parse_pages` does."""
    return _page(series, at_s, _running_queries(series)[0])


def _page(series: Mapping[str, Series], at_s: float, query: tuple[str, str]) -> Page:
    try:
        return _told(series, at_s, query)
    except (ValueError, OverflowError) as error:
        raise _no_page(error) from error


def _no_page(error: Exception) -> Unavailable:
    """The error quotes the line, and the sentence reaches people who may not read the page."""
    what = f"it has more than {MOST_LINES} lines" if isinstance(error, TooManyLines) else "a line of it is none"
    return Unavailable(f"The agent's page cannot be read: {what} ({type(error).__name__}).")


def _told(series: Mapping[str, Series], at_s: float, query: tuple[str, str]) -> Page:
    application = next(iter(series[names.AGENT_INFO]))[0]
    ids = _GroupIds()
    found = [(ids[labels[1:]], labels) for labels in series[names.GROUP_BUSY_SECONDS] if labels[0] == query[0]]
    rows = sorted(found, key=lambda row: (row[0].operator, row[0].partition))
    owners = series.get(names.GROUP_EXECUTOR_ID, {})
    texts = {number: str(int(number)) for number in owners.values()}  # one for all groups of an executor
    return Page(
        at_s=at_s,
        application_id=application,
        query_id=query[0],
        run_id=query[1],
        group_ids=tuple(group for group, _ in rows),
        owners=tuple(texts[owners[labels]] if labels in owners else None for _, labels in rows),
        counters={name: _column(series.get(name, {}), rows) for name in (*GROUP_COUNTERS, *SPARSE_COUNTERS)},
        state_bytes=_column(series.get(names.GROUP_STATE_BYTES, {}), rows),
        traffic=_traffic(series.get(names.TRAFFIC_BYTES, {}), query[0], ids),
        executors={(one[0], one[1]): _cores(cores) for one, cores in series.get(names.EXECUTOR_CORES, {}).items()},
        executor_states={one[0]: one[1] for one, is_so in series.get(names.EXECUTOR_STATE, {}).items() if is_so},
        executor_busy_s=_by_executor(series.get(names.EXECUTOR_BUSY_SECONDS, {})),
        memory_used_bytes=_by_executor(series.get(names.EXECUTOR_MEMORY_USED, {})),
        memory_limit_bytes=_by_executor(series.get(names.EXECUTOR_MEMORY_LIMIT, {})),
        state_memory_bytes=_column(series[names.GROUP_STATE_MEMORY], rows)
        if series.get(names.GROUP_STATE_MEMORY)
        else None,
        state_limit_bytes=_second(series.get(names.EXECUTOR_STATE_LIMIT, {}), query[0]),
        query={name: series[name][query[:1]] for name in QUERY_SERIES if query[:1] in series.get(name, {})},
        stages={name: _second(series.get(name, {}), query[0]) for name in (*STAGE_COUNTERS, names.STAGE_LEVEL)},
        squared_s2={
            int(operator): value
            for operator, value in _second(series.get(names.OPERATOR_SQUARED_SECONDS, {}), query[0]).items()
        },
        parts_s=_second(series.get(names.PART_SECONDS, {}), query[0]),
        pinned=tuple(ids[labels[1:]] for labels in sorted(series.get(names.GROUP_PINNED, {})) if labels[0] == query[0]),
    )


def labels_of(name: str) -> Labels | None:
    """Labels of a series in the contract's order; None when it is not in the contract."""
    return _LABELS.get(name)


def _series(body: bytes) -> dict[str, dict[Labels, float]]:
    """Name -> label values in the contract's order -> value; series that are not in the contract are left out."""
    try:
        return series_of(body, _LABELS)
    except (ValueError, KeyError) as error:
        raise _no_page(error) from error


class _GroupIds(dict[Labels, GroupId]):
    """Key groups by what a page calls them, each one once: a page may name one in a hundred pairs."""

    def __missing__(self, labels: Labels) -> GroupId:
        self[labels] = group = _group(labels)
        return group


def _running_queries(series: Mapping[str, Series]) -> list[tuple[str, str]]:
    """Id and run of each running query with key groups, those with most of them first, by id at a tie."""
    if not series.get(names.AGENT_INFO):
        raise Unavailable(f"The agent's page is not whole: {names.AGENT_INFO} is missing.")
    running = {labels[0]: labels[1] for labels in sorted(series.get(names.QUERY_INFO, {}))}
    groups = Counter(labels[0] for labels in series.get(names.GROUP_BUSY_SECONDS, {}))
    if not groups.keys() & running.keys():
        if not running and series.get(names.QUERY_BATCHES):
            raise Ended("Every query of the driver has ended.")
        raise Unavailable("No streaming query with key groups runs yet.")
    trouble = too_many(len(groups.keys() & running.keys()))
    if trouble is not None:
        raise Unavailable(trouble)
    return sorted(((one, run) for one, run in running.items() if groups[one]), key=lambda one: (-groups[one[0]], one))


def _group(labels: Labels) -> GroupId:
    return _known_group(int(labels[0]), int(labels[1]))


@functools.lru_cache(maxsize=MOST_KNOWN_GROUPS)
def _known_group(operator: int, partition: int) -> GroupId:
    """One object for all pages of all jobs."""
    if not (0 <= operator < MOST_OPERATORS and 0 <= partition < MOST_GROUPS):
        raise ValueError(f"{operator}/{partition} is no key group")
    return GroupId(operator=operator, partition=partition)


def _cores(value: float) -> int:
    """Slots of an executor, of which tables are made by number."""
    if not 1 <= value <= MOST_CORES:
        raise ValueError(f"{value} are no slots")
    return int(value)


def _column(values: Series, rows: list[tuple[GroupId, Labels]]) -> FloatArray:
    return np.array([values.get(labels, 0.0) for _, labels in rows], dtype=np.float64)


def _by_executor(values: Series) -> dict[str, float]:
    return {labels[0]: value for labels, value in values.items()}


def _second(values: Series, query: str) -> dict[str, float]:
    """One query's values by the label that comes after it."""
    return {labels[1]: value for labels, value in values.items() if labels[0] == query}


def _traffic(values: Series, query: str, ids: _GroupIds) -> dict[tuple[GroupId, GroupId], float]:
    return {(ids[one[1:3]], ids[one[3:5]]): size for one, size in values.items() if one[0] == query}


def _own_bytes(page: Page) -> int:
    apart = ("group_ids", "owners", "traffic", "own_bytes")
    fields = (field.name for field in dataclasses.fields(page) if field.name not in apart)
    owners = sys.getsizeof(page.owners) + sum(map(sys.getsizeof, set(page.owners)))
    return owners + pairs_bytes(page.traffic) + sum(held_bytes(getattr(page, name)) for name in fields)
