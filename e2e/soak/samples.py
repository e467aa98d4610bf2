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
        files: in the folder for temporary files, the driver's and the executors'.
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
    lives: int


HELD = tuple(field.name for field in dataclasses.fields(Sample) if field.name not in ("at_s", "lives"))
"""The quantities that have to level off."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """A quantity after it has settled: its median, and what is added to it each hour, with the ends of that (95 %)."""

    median: float
    an_hour: float
    low: float
    high: float

    @property
    def level(self) -> bool:
        """Whether growth, if there is any, is small beside what is held."""
        return self.an_hour <= LEVEL_PER_HOUR * max(self.median, 1.0)


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

    Raises ValueError for fewer than three samples after that.
    """
    begin_s, end_s = samples[0].at_s, samples[-1].at_s
    settled = [one for one in samples if one.at_s >= begin_s + SETTLES * (end_s - begin_s)]
    if len(settled) < 3:
        raise ValueError(f"samples: {len(settled)} after the first third; at least 3 are needed.")
    hours = np.array([one.at_s for one in settled]) / 3600
    values = np.array([getattr(one, name) for one in settled], dtype=float)
    slope, _, low, high = theilslopes(values, hours)
    return Growth(median=float(np.median(values)), an_hour=float(slope), low=float(low), high=float(high))
