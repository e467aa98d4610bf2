"""Rows that were read before give the same series as all of them read anew, whatever happens to the scrapes."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_agent import metric_names as names
from streamjob_operator.kube.metrics.http import Connection
from streamjob_operator.kube.metrics.known_rows import KnownRows
from streamjob_operator.kube.metrics.series import Read, read_series
from streamjob_operator.kube.metrics.target import Mark, Target
from streamjob_operator.measure import batches
from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.measure.page import Page
from streamjob_operator.series import BatchSeries
from streamjob_planners.model import GroupId

SCRAPE_S, ROWS, CYCLES = 15.0, 6, 3
TARGET = Target(application_id="app", labels={})
Samples = dict[tuple[tuple[str, str], ...], list[tuple[float, str]]]


@dataclasses.dataclass(slots=True, kw_only=True)
class Scraped:
    """A Prometheus with one query's series, and how many samples it was asked for."""

    samples: Samples
    asked: int = 0
    limits: ReadingLimits = dataclasses.field(default_factory=ReadingLimits)

    def query(self, expression: str, at_s: float) -> list[dict[str, Any]]:
        """What lies within the range that ends then."""
        found = re.search(r"\[(\d+)ms\]$", expression)
        assert found is not None
        since_s, answer = at_s - int(found[1]) / 1000.0, []
        for labels, samples in self.samples.items():
            values = [[when_s, value] for when_s, value in samples if since_s < when_s <= at_s]
            self.asked += len(values)
            if values:
                answer.append({"metric": dict(labels), "values": values})
        return answer


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """As much of a page as is asked for."""

    at_s: float
    group_ids: tuple[GroupId, ...]
    executors: tuple[tuple[str, str], ...] = (("0", "h"), ("1", "h"))


def scraped(rng: np.random.Generator, n_groups: int, n_scrapes: int, odd: str) -> Scraped:
    """Counters that grow, and start anew now and then; `odd` is what else happens."""
    times = SCRAPE_S * np.arange(1, n_scrapes + 1)
    found: Samples = {}

    def tell(name: str, values: np.ndarray[Any, Any], **labels: str) -> None:
        found[(("__name__", name), *sorted(labels.items()))] = [
            (float(at), repr(float(one))) for at, one in zip(times, values, strict=True) if np.isfinite(one)
        ]

    def counter() -> np.ndarray[Any, Any]:
        grown = np.cumsum(rng.exponential(1.0, n_scrapes))
        again = int(rng.integers(0, 2 * n_scrapes))
        grown[again:] -= grown[again] if again < n_scrapes else 0.0
        return np.asarray(grown)

    for at in range(n_groups):
        of = {"operator": "0", "partition": str(at)}
        for name in (names.GROUP_BUSY_SECONDS, names.GROUP_WARMUP_SECONDS, names.GROUP_RECORDS):
            tell(name, counter(), **of)
        tell(names.GROUP_EXECUTOR_ID, rng.integers(0, 2, n_scrapes).astype(np.float64), **of)
    for name in (names.QUERY_BATCH_SECONDS, names.QUERY_INPUT_ROWS, names.QUERY_OTHER_BUSY_SECONDS):
        tell(name, counter())
    for stage in ("0", "free") if odd == "stages" else ("0",):
        late = counter() if stage == "0" else np.where(times > times[n_scrapes // 2], counter(), np.nan)
        for name in (names.STAGE_WALL_SECONDS, names.STAGE_BUSY_SECONDS):
            tell(name, late, stage=stage)
    tell(names.PART_SECONDS, counter(), part="addBatch")
    for executor in ("0", "1"):
        tell(names.EXECUTOR_CORES, np.full(n_scrapes, 2.0), executor=executor)
    if odd == "no number":
        key = (("__name__", names.GROUP_BUSY_SECONDS), ("operator", "0"), ("partition", "0"))
        found[key] = [(at, "NaN" if at == times[-1] else value) for at, value in found[key]]
    return Scraped(samples=found)


def reads(server: Scraped, n_groups: int, ends: list[int], *, keep: bool) -> list[Read]:
    """Cycles that end at these scrapes, each over the ROWS before it."""
    groups = tuple(GroupId(operator=0, partition=at) for at in range(n_groups))
    known: KnownRows | None = None
    found = []
    for end in ends:
        kept = range(max(1, end - ROWS), end + 1)
        marks = [Mark(at_s=SCRAPE_S * at, identity=("app", "q", "run"), batches=float(at)) for at in kept]
        page = cast(Page, End(at_s=SCRAPE_S * end + 0.25, group_ids=groups))
        read = read_series(cast(Connection, server), TARGET, marks, len(marks), page, known)
        known = read.known if keep else None
        found.append(read)
    return found


def columns(series: BatchSeries) -> dict[str, Any]:
    own = {field.name: getattr(series, field.name) for field in dataclasses.fields(series)}
    parts = {f"parts.{name}": one for name, one in own.pop("parts_s").items()}
    stages = {
        f"stages.{name}.{what}": getattr(rows, what)
        for name, rows in own.pop("stages").items()
        for what in ("operator", "wall_s", "busy_s", "longest_s", "wait_s")
    }
    return own | parts | stages


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_groups=st.integers(1, 4),
    steps=st.lists(st.integers(0, ROWS + 2), min_size=CYCLES, max_size=CYCLES),
    odd=st.sampled_from(["", "stages", "no number"]),
    most=st.integers(2, ROWS + 2),
)
def test_a_series_is_the_same_with_what_is_known(
    seed: int, n_groups: int, steps: list[int], odd: str, most: int
) -> None:
    """`most`: scrapes that a series may have; of more, the newest half and some of the others."""
    ends = np.cumsum([3, *steps]).tolist()
    server = scraped(np.random.default_rng(seed), n_groups, ends[-1], odd)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(batches, "MOST_VALUES", 2 * n_groups * most)
        long, short = (reads(server, n_groups, ends, keep=keep) for keep in (False, True))
    for one, other in zip(long, short, strict=True):
        assert one.series is not None
        assert other.series is not None
        wanted, told = columns(one.series), columns(other.series)
        assert wanted.keys() == told.keys()
        for name, values in wanted.items():
            np.testing.assert_array_equal(told[name], values, err_msg=name)


def test_only_the_newest_scrapes_are_asked_for() -> None:
    server = scraped(np.random.default_rng(1), 4, 10, "")
    reads(server, 4, [8], keep=True)
    whole, server.asked = server.asked, 0
    (_, last) = reads(server, 4, [8, 10], keep=True)
    assert server.asked - whole == pytest.approx(whole * 2 / (ROWS + 1))
    assert last.known is not None
    assert last.known.size_bytes > 4 * ROWS * 8


def test_rows_of_other_key_groups_are_not_known() -> None:
    server = scraped(np.random.default_rng(1), 4, 10, "")
    (read,) = reads(server, 4, [8], keep=True)
    assert read.known is not None
    marks = list(read.known.marks)
    assert read.known.since(marks, read.known.group_ids) is not None
    assert read.known.since(marks, read.known.group_ids[:2]) is None
    another_run = [dataclasses.replace(one, identity=("app", "q", "other")) for one in marks]
    assert read.known.since(another_run, read.known.group_ids) is None
