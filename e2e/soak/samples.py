"""What a driver holds at one moment, and whether that levels off over hours."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Sequence

import numpy as np
from scipy.stats import theilslopes

SETTLES = 1 / 3
"""Share of the time in which classes are loaded, rings fill and Spark's own tables reach their limits."""
LEVEL_PER_HOUR = 0.05
"""A quantity is level when its growth in an hour is at most this share of its median."""
NEAR_ALONE = 0.05
"""By what share more may be left behind than without an agent: intervals take samples for independent, which sums over
all starts are not, and how often py4j takes an old connection for a new run goes by the moment."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What the driver holds; `at_s` since the beginning.

    Attributes:
        heap_bytes: in use right after a collection that the sample asked for.
        classes_bytes: the JVM's memory beside the heap: classes, compiled code.
        jvm_threads, jvm_files: threads and open file descriptors of the JVM.
        python_bytes: resident memory of the Python process that the agent lives in.
        python_threads, python_files: its threads and open file descriptors.
        listeners: on Spark's bus, of all queues.
        page_bytes: length of the agent's metrics page.
        files: in the folder for temporary files, without the executors'.
        starts: of queries so far, those that were started again counted, too.
        failed_starts: of these, failures that nobody wanted: mostly Spark's Python worker came too late, before the run
            had a sink that could leave anything behind.
        lives: queries that were begun so far.
    """

    at_s: float
    heap_bytes: int
    classes_bytes: int
    jvm_threads: int
    jvm_files: int
    python_bytes: int
    python_threads: int
    python_files: int
    listeners: int
    page_bytes: int
    files: int
    starts: int
    failed_starts: int
    lives: int

    @property
    def runs(self) -> int:
        """Starts that came as far as a first batch."""
        return self.starts - self.failed_starts


COUNTS = ("at_s", "starts", "failed_starts", "lives")
HELD = tuple(field.name for field in dataclasses.fields(Sample) if field.name not in COUNTS)
"""The quantities that have to level off."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """What is added for each unit of something else, and the ends of that (95 %)."""

    mean: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """A quantity after it has settled: its median, and what is added to it in an hour, and by each start of a query."""

    median: float
    an_hour: Slope
    a_start: Slope

    @property
    def level(self) -> bool:
        """Whether growth, if there is any, is small beside what is held."""
        return self.an_hour.mean <= LEVEL_PER_HOUR * max(self.median, 1.0)

    def as_alone(self, alone: Growth) -> bool:
        """Whether queries leave no more behind than where there is no agent, or hardly."""
        return self.a_start.low <= (1 + NEAR_ALONE) * alone.a_start.high


def read(path: pathlib.Path) -> list[Sample]:
    """All samples of a run, in order. A last line that was cut is left out."""
    lines = path.read_text().splitlines(keepends=True)
    return [Sample(**json.loads(line)) for line in lines if line.endswith("\n")]


def keep(sample: Sample, path: pathlib.Path) -> None:
    """One line more."""
    with path.open("a") as out:
        out.write(json.dumps(dataclasses.asdict(sample)) + "\n")


def growth(samples: Sequence[Sample], name: str) -> Growth:
    """How a quantity grows once it has settled (Theil and Sen's slope: a few odd samples do not count).

    Raises ValueError for fewer than three samples after that, or when no query was started.
    """
    settled = samples[samples.index(after(samples, SETTLES)) :]
    if len(settled) < 3 or settled[0].runs == settled[-1].runs:
        raise ValueError(
            f"samples: {len(settled)} after the first third; at least 3 are needed, and queries in between."
        )
    values = np.array([getattr(one, name) for one in settled], dtype=float)
    hours = np.array([one.at_s for one in settled]) / 3600
    starts = np.array([one.runs for one in settled], dtype=float)
    return Growth(median=float(np.median(values)), an_hour=_slope(values, hours), a_start=_slope(values, starts))


def after(samples: Sequence[Sample], share: float) -> Sample:
    """The first sample after that share of the time."""
    begin_s, end_s = samples[0].at_s, samples[-1].at_s
    return next(one for one in samples if one.at_s >= begin_s + share * (end_s - begin_s))


def _slope(values: np.ndarray, over: np.ndarray) -> Slope:
    if np.ptp(values) == 0:  # of what never changes, theilslopes knows no interval
        return Slope(mean=0.0, low=0.0, high=0.0)
    mean, _, low, high = theilslopes(values, over)
    return Slope(mean=float(mean), low=float(low), high=float(high))
