"""The scans of the demo: deterministic, written and published at a rate that changes.

Depots are chosen by the key group that Spark's hash gives them, so that some key groups are hot; scan numbers are
chosen so that a part of the traffic between the job's two operators flows between fixed pairs of key groups. The demo
proves its results from these files alone.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import pathlib
import random
import threading
import time
from collections.abc import Callable, Iterator

from spark_hash import keys_of, partition_of


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A time with a steady rate: it lasts until what it shall show has been seen, or at most so long.

    A file appears each `tick_s` seconds.
    """

    name: str
    at_most_s: float
    rows_per_s: int
    tick_s: float = 0.25

    @property
    def rows(self) -> int:
        """Scans of a file."""
        return round(self.rows_per_s * self.tick_s)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Skew:
    """How scans fall onto key groups.

    Every `hot_every`-th key group gets `hot_weight` times the scans of the others: just what places them all on one of
    `hot_every` executors that are filled in turn. `pair_ratio` of the scans have a number of the key group that is
    paired with their depot's, `repeat_ratio` are sent twice.
    """

    partitions: int
    hot_every: int
    hot_weight: float
    depots_per_partition: int
    pair_ratio: float
    repeat_ratio: float


def depots(skew: Skew) -> tuple[list[int], list[float]]:
    """Depot numbers and the weight of each."""
    numbers, weights = [], []
    for partition in range(skew.partitions):
        numbers += itertools.islice(keys_of(partition, skew.partitions), skew.depots_per_partition)
        weights += [skew.hot_weight if partition % skew.hot_every == 0 else 1.0] * skew.depots_per_partition
    return numbers, weights


def rows(skew: Skew, seed: int = 7) -> Iterator[dict[str, int]]:
    """Scans without end, the same for the same seed; a repeated scan follows within the next hundred."""
    chance = random.Random(seed)
    numbers, weights = depots(skew)
    number, repeats = 1_000_000, []
    while True:
        depot = chance.choices(numbers, weights)[0]
        number += chance.randrange(1, 4)
        if chance.random() < skew.pair_ratio:
            paired = (partition_of(depot, skew.partitions) + 1) % skew.partitions
            number = next(keys_of(paired, skew.partitions, start=number))
        row = {"scan": number, "depot": depot, "grams": chance.randrange(50, 30_000)}
        yield row
        if chance.random() < skew.repeat_ratio:
            repeats.append(row)
        if len(repeats) > 3:
            yield repeats.pop(0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Director:
    """Is told as a phase starts, and asked before each of its files whether it is over."""

    started: Callable[[Phase], None]
    is_over: Callable[[Phase], bool]


class Publisher(threading.Thread):
    """Writes files of scans into the job's input folder, phase by phase; a file appears at once and whole.

    :meth:`begin` starts the clock; until then only a first file is there, so that the job can start. It holds the
    scans of a second: who sends to whom is read from its batch, and key groups are gathered by that.
    """

    def __init__(self, phases: tuple[Phase, ...], skew: Skew, folder: pathlib.Path, director: Director) -> None:
        super().__init__(name="scans", daemon=True)
        self._phases = phases
        self._folder = folder
        self._director = director
        self._rows, self._numbers = rows(skew), itertools.count()
        self._begun = threading.Event()
        self.stopped = threading.Event()

    def begin(self) -> None:
        """Start the clock."""
        self._begun.set()

    def stop(self) -> None:
        """Publish no more."""
        self.stopped.set()
        self._begun.set()

    def run(self) -> None:
        """Publish all phases."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._publish(self._phases[0].rows_per_s)
        self._begun.wait()
        for phase in self._phases:
            self._perform(phase)

    def _perform(self, phase: Phase) -> None:
        if self.stopped.is_set():
            return
        self._director.started(phase)
        start_s = time.monotonic()
        for tick in range(round(phase.at_most_s / phase.tick_s)):
            if self.stopped.wait(max(0.0, start_s + tick * phase.tick_s - time.monotonic())):
                return
            if self._director.is_over(phase):
                return
            self._publish(phase.rows)

    def _publish(self, count: int) -> None:
        draft = self._folder.with_name("draft.json")
        scans = itertools.islice(self._rows, count)
        draft.write_text("".join(json.dumps(scan) + "\n" for scan in scans), encoding="ascii")
        draft.rename(self._folder / f"{next(self._numbers):05d}.json")
