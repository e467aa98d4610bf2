"""Linear Road, extended as in the CBP paper, section 6.3: tolls and accidents, travel times, traffic between vertices.

Speed and number of cars of a segment, accidents (two cars that stand at one place) and the toll are Linear Road's; the
traffic between every two vertices, each minute, is what the paper adds (its operator o_6). Numbers of cars from which
a toll is due are ours, as few cars as a test has.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jobs.job import Job, Query, Read, Rows, Taken
from jobs.papers.roads import STREAMS, generate
from jobs.sessions import ended
from jobs.timed import ends, timed
from jobs.watermarks import as_rows, closed, column, marks, windowed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DELAY_MS, WINDOW_MS, PAUSE_MS = 15_000, 60_000, 30_000
STANDING, SLOW_MPS, FREE_CARS = 4, 20, 3
"""Reports a minute at one place from which a car stands; mean speed and cars of a segment from which a toll is due."""
PLACE = ("expressway", "segment")


def build_tolls(read: Read) -> DataFrame:
    """Speed, cars, accident and toll of each segment and minute."""
    reports = timed(read("reports"), DELAY_MS)
    minute = F.window("at", "1 minute")
    stats = reports.groupBy(minute, *PLACE).agg(
        F.size(F.collect_set("vehicle")).alias("cars"), F.expr("sum(speed) div count(*)").alias("speed")
    )
    still = reports.where(F.col("speed") == 0).groupBy(minute, *PLACE, "position", "vehicle")
    standing = still.agg(F.count("*").alias("reports")).where(F.col("reports") >= STANDING)
    places = standing.groupBy("window", *PLACE).agg(F.collect_list("position").alias("positions"))
    crashed = F.size("positions") > F.size(F.array_distinct("positions"))
    accidents = places.where(crashed).select(
        F.col("window").alias("of"), F.col("expressway").alias("on"), F.col("segment").alias("in")
    )
    same = (F.col("window") == F.col("of")) & (F.col("expressway") == F.col("on")) & (F.col("segment") == F.col("in"))
    found = stats.join(accidents, same, "leftOuter").withColumn("accident", F.col("of").isNotNull().cast("int"))
    due = (F.col("accident") == 0) & (F.col("speed") < SLOW_MPS) & (F.col("cars") > FREE_CARS)
    toll = F.when(due, 2 * (F.col("cars") - FREE_CARS) * (F.col("cars") - FREE_CARS)).otherwise(0).alias("toll")
    return found.select(*PLACE, ends(), "cars", "speed", "accident", toll)


def answer_tolls(taken: Sequence[Taken]) -> list[Rows]:
    """All reports of a segment and minute, once that is over."""
    when = marks(taken, (column("reports"), DELAY_MS))
    arrivals = windowed(taken, when, "reports", WINDOW_MS, lambda one: [((one["expressway"], one["segment"]), [one])])
    minutes = closed(arrivals, operator.iadd)
    tuples = ([(*place, end, *_toll(some)) for end, place, some in batch] for batch in minutes)
    return as_rows(tuples, *PLACE, "ends_ms", "cars", "speed", "accident", "toll")


def _toll(reports: Rows) -> tuple[int, int, int, int]:
    """Cars, speed, accident, toll."""
    cars, speed = len({one["vehicle"] for one in reports}), sum(one["speed"] for one in reports) // len(reports)
    still = collections.Counter((one["position"], one["vehicle"]) for one in reports if one["speed"] == 0)
    standing = collections.Counter(position for (position, _), count in still.items() if count >= STANDING)
    accident = int(any(count > 1 for count in standing.values()))
    due = not accident and speed < SLOW_MPS and cars > FREE_CARS
    return cars, speed, accident, 2 * (cars - FREE_CARS) ** 2 if due else 0


def build_travels(read: Read) -> DataFrame:
    """How long each vehicle was on each expressway: until it has said nothing there for half a minute."""
    stays = timed(read("reports"), DELAY_MS).groupBy(F.session_window("at", "30 seconds"), "vehicle", "expressway")
    took = stays.agg((F.max("at_ms") - F.min("at_ms")).alias("took_ms"), F.count("*").alias("reports"))
    return took.select("vehicle", "expressway", ends("session_window"), "took_ms", "reports")


def answer_travels(taken: Sequence[Taken]) -> list[Rows]:
    """From the first to the last report of a stay."""
    when = marks(taken, (column("reports"), DELAY_MS))
    stays = ended(
        taken, when, "reports", lambda one: ((one["vehicle"], one["expressway"]), one["at_ms"], PAUSE_MS, one["at_ms"])
    )
    tuples = ([(*key, end, max(times) - min(times), len(times)) for key, (_, end, times) in some] for some in stays)
    return as_rows(tuples, "vehicle", "expressway", "ends_ms", "took_ms", "reports")


def build_traffic(read: Read) -> DataFrame:
    """Vehicles that came from one vertex and drive towards another, each minute."""
    pairs = timed(read("reports"), DELAY_MS).groupBy(F.window("at", "1 minute"), "origin", "target")
    return pairs.agg(F.size(F.collect_set("vehicle")).alias("vehicles")).select("origin", "target", ends(), "vehicles")


def answer_traffic(taken: Sequence[Taken]) -> list[Rows]:
    """Different vehicles of each pair."""
    when = marks(taken, (column("reports"), DELAY_MS))
    arrivals = windowed(
        taken, when, "reports", WINDOW_MS, lambda one: [((one["origin"], one["target"]), frozenset((one["vehicle"],)))]
    )
    pairs = closed(arrivals, operator.or_)
    tuples = ([(*pair, end, len(cars)) for end, pair, cars in some] for some in pairs)
    return as_rows(tuples, "origin", "target", "ends_ms", "vehicles")


JOBS = (
    Job(
        name="linear-road",
        source="CBP, section 6.3, extended Linear Road",
        about="tolls and accidents of segments, travel times of cars, traffic between vertices",
        streams=STREAMS,
        generate=generate,
        queries=(
            Query(name="tolls", build=build_tolls, answer=answer_tolls),
            Query(name="travels", build=build_travels, answer=answer_travels),
            Query(name="traffic", build=build_traffic, answer=answer_traffic),
        ),
    ),
)
