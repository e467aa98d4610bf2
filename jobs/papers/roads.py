"""Vehicles on a network of expressways that say every ten seconds where they are.

The extended Linear Road benchmark of the CBP paper, section 6.3: 10 vertices, joined by 30 expressways, each with the
benchmark's streams of positions. Now and then two cars stop at one place for two minutes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from jobs.chance import START_MS
from jobs.job import Batch, Row, Rows

VERTICES, EXPRESSWAYS, SEGMENTS, SEGMENT_M = 10, 30, 5, 1_000
REPORT_MS, STEPS = 10_000, 3
"""Time between two reports of a vehicle, and reports of each in a batch."""
STOP_STEPS, CRASHES = 12, 2
"""Reports of a stopped car, and accidents that begin in a batch."""
LATE_RATIO, LATE_MS = 0.01, 120_000
STREAMS = {
    "reports": "vehicle long, expressway long, origin long, target long, segment long, position long, speed long, "
    "at_ms long"
}


@dataclasses.dataclass(slots=True)
class Vehicle:
    """A car: metres from the start of its expressway, metres a second, reports for which it still stands."""

    number: int
    origin: int
    expressway: int
    position_m: int
    speed_mps: int
    stopped: int = 0


def ends_of(expressway: int) -> tuple[int, int]:
    """The vertices that an expressway leads from and to: three leave every vertex."""
    start = expressway % VERTICES
    return start, (start + 1 + 3 * (expressway // VERTICES)) % VERTICES


def generate(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Batches of half a minute; expressways that leave the first vertices are the crowded ones."""
    cars = [_enter(rng, number) for number in range(max(4, rows // STEPS))]
    since_ms = START_MS
    while True:
        for _ in range(CRASHES):
            _crash(rng, cars)
        reports: Rows = []
        for step in range(STEPS):
            at_ms = since_ms + step * REPORT_MS
            reports += [_report(car, at_ms + car.number % REPORT_MS) for car in cars]
            cars = [_drive(rng, car) for car in cars]
        for late in np.flatnonzero(rng.random(len(reports)) < LATE_RATIO):
            reports[late]["at_ms"] -= int(rng.integers(1, LATE_MS))
        yield {"reports": reports}
        since_ms += STEPS * REPORT_MS


def _enter(rng: np.random.Generator, number: int) -> Vehicle:
    expressway = min(int(rng.geometric(0.15)) - 1, EXPRESSWAYS - 1)
    position_m = int(rng.integers(SEGMENTS * SEGMENT_M))
    return Vehicle(number, ends_of(expressway)[0], expressway, position_m, int(rng.integers(8, 35)))


def _crash(rng: np.random.Generator, cars: list[Vehicle]) -> None:
    """The second car stops where the first one is."""
    one, other = (cars[i] for i in rng.choice(len(cars), 2, replace=False))
    other.expressway, other.position_m = one.expressway, one.position_m
    one.stopped = other.stopped = STOP_STEPS


def _report(car: Vehicle, at_ms: int) -> Row:
    return {
        "vehicle": car.number,
        "expressway": car.expressway,
        "origin": car.origin,
        "target": ends_of(car.expressway)[1],
        "segment": car.position_m // SEGMENT_M,
        "position": car.position_m,
        "speed": 0 if car.stopped else car.speed_mps,
        "at_ms": at_ms,
    }


def _drive(rng: np.random.Generator, car: Vehicle) -> Vehicle:
    """Ten seconds on; at its end a car turns into an expressway that leaves there, or begins another trip."""
    if car.stopped:
        car.stopped -= 1
        return car
    car.position_m += car.speed_mps * REPORT_MS // 1000
    if car.position_m < SEGMENTS * SEGMENT_M:
        return car
    if rng.random() < 0.3:
        return dataclasses.replace(_enter(rng, car.number), position_m=0)
    start = ends_of(car.expressway)[1]
    return dataclasses.replace(car, expressway=start + VERTICES * int(rng.integers(3)), position_m=0)
