"""The scans of the demo: deterministic files, prepared beforehand and published at a rate that changes.

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

TICK_S = 1.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A time with a steady rate: it lasts until what it shall show has been seen, within bounds."""

    name: str
    at_least_s: float
    at_most_s: float
    rows_per_s: int


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
class Delivery:
    """A phase and its prepared files, one for each second."""

    phase: Phase
    paths: tuple[pathlib.Path, ...]


def prepare(phases: tuple[Phase, ...], skew: Skew, folder: pathlib.Path) -> tuple[Delivery, ...]:
    """Write every file that may be needed into `folder`; names are in the order of publishing."""
    folder.mkdir(parents=True)
    stream, numbers = rows(skew), itertools.count()
    deliveries = []
    for phase in phases:
        paths = [folder / f"{next(numbers):05d}.json" for _ in range(round(phase.at_most_s / TICK_S))]
        for path in paths:
            scans = itertools.islice(stream, round(phase.rows_per_s * TICK_S))
            path.write_text("".join(json.dumps(scan) + "\n" for scan in scans), encoding="ascii")
        deliveries.append(Delivery(phase=phase, paths=tuple(paths)))
    return tuple(deliveries)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Director:
    """Is told as a phase starts, and asked from its shortest time on whether it is over."""

    started: Callable[[Phase], None]
    is_over: Callable[[Phase], bool]


class Publisher(threading.Thread):
    """Moves prepared files into the job's input folder, one each second; a file appears at once and whole.

    :meth:`begin` starts the clock; until then only the first file is there, so that the job can start. Files of a phase
    that is over early are never published, and so are no part of the source.
    """

    def __init__(self, deliveries: tuple[Delivery, ...], folder: pathlib.Path, director: Director) -> None:
        super().__init__(name="scans", daemon=True)
        self._deliveries = deliveries
        self._folder = folder
        self._director = director
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
        self._publish(self._deliveries[0].paths[0])
        self._begun.wait()
        for delivery in self._deliveries:
            self._perform(delivery)

    def _perform(self, delivery: Delivery) -> None:
        phase, start_s = delivery.phase, time.monotonic()
        if self.stopped.is_set():
            return
        self._director.started(phase)
        for tick, path in enumerate(delivery.paths):
            elapsed_s = tick * TICK_S
            if self.stopped.wait(max(0.0, start_s + elapsed_s - time.monotonic())):
                return
            if elapsed_s >= phase.at_least_s and self._director.is_over(phase):
                return
            self._publish(path)

    def _publish(self, path: pathlib.Path) -> None:
        if path.exists():  # the very first file is published before the clock starts
            path.rename(self._folder / path.name)
