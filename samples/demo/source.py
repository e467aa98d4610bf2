"""The scans of the demo: deterministic files, prepared beforehand and published at a rate that changes with time.

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
    """A time with a steady rate."""

    name: str
    seconds: float
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
    """A prepared file and when it appears, in seconds after the start."""

    path: pathlib.Path
    at_s: float
    phase: Phase


def prepare(phases: tuple[Phase, ...], skew: Skew, folder: pathlib.Path) -> tuple[Delivery, ...]:
    """Write every file of the run into `folder`; the first one is there from the start."""
    folder.mkdir(parents=True)
    stream = rows(skew)
    deliveries = []
    for number, (at_s, phase) in enumerate(_ticks(phases)):
        path = folder / f"{number:05d}.json"
        scans = itertools.islice(stream, round(phase.rows_per_s * TICK_S))
        path.write_text("".join(json.dumps(scan) + "\n" for scan in scans), encoding="ascii")
        deliveries.append(Delivery(path=path, at_s=at_s, phase=phase))
    return tuple(deliveries)


def _ticks(phases: tuple[Phase, ...]) -> Iterator[tuple[float, Phase]]:
    start_s = 0.0
    for phase in phases:
        for tick in range(round(phase.seconds / TICK_S)):
            yield start_s + tick * TICK_S, phase
        start_s += phase.seconds


class Publisher(threading.Thread):
    """Moves prepared files into the job's input folder at their time; a file appears at once and whole.

    `on_phase` is called as a phase starts. :meth:`begin` starts the clock; until then only the first file is there, so
    that the job can warm up.
    """

    def __init__(
        self, deliveries: tuple[Delivery, ...], folder: pathlib.Path, on_phase: Callable[[Phase], None]
    ) -> None:
        super().__init__(name="scans", daemon=True)
        self._deliveries = deliveries
        self._folder = folder
        self._on_phase = on_phase
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
        """Publish all."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._publish(self._deliveries[0])
        self._begun.wait()
        start_s, phase = time.monotonic(), None
        for delivery in self._deliveries[1:]:
            if self.stopped.wait(max(0.0, start_s + delivery.at_s - time.monotonic())):
                return
            if delivery.phase is not phase:
                phase = delivery.phase
                self._on_phase(phase)
            self._publish(delivery)

    def _publish(self, delivery: Delivery) -> None:
        delivery.path.rename(self._folder / delivery.path.name)
