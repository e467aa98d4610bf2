"""Real jobs 2, 3 and 4: delays by plane and year, by route, and how couriers do in the rain.

The paper's data sets are "Airline On-Time" and "Global Surface Summary of the Day", 2004 to 2013. Operators that keep
no state (extract delays, the rain score, the bins) run with their source or with what follows; each sum is a query of
its own, since Spark allows one aggregation without an end a query, and what the paper stores is what the sink writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from pyspark.sql import functions as F

from jobs.chance import numbers, times_ms, zipf
from jobs.job import Batch, Job, Query, Read, Row, Rows, Taken
from jobs.timed import ends, timed
from jobs.watermarks import add_pairs, as_rows, changed, closed, column, marks, windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

T = TypeVar("T")
DAY_MS = 86_400_000
BEGIN_MS = 1_103_760_000_000
"""23 December 2004: years change soon after."""
AIRPORTS = tuple(f"A{i:02d}" for i in range(40))
COURIERS = ("AA", "DL", "UA", "WN", "US")
HIGHEST = {airport: 400 + 37 * i for i, airport in enumerate(AIRPORTS)}
"""Most rain ever measured in a day, tenths of a millimetre."""
FLIGHT_DELAY_MS, WEATHER_DELAY_MS = 6 * 3_600_000, 12 * 3_600_000
STREAMS = {
    "flights": "plane string, courier string, origin string, destination string, year long, expected_min long, "
    "arrived_min long, at_ms long",
    "weather": "station string, rain long, at_ms long",
}


def generate(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Two days a batch: flights between airports of which few are large, and the weather that comes a day later."""
    since_ms, before_ms = BEGIN_MS, BEGIN_MS - 2 * DAY_MS
    while True:
        yield {
            "flights": _flights(rng, max(1, rows - 2 * len(AIRPORTS)), since_ms),
            "weather": _weather(rng, before_ms),
        }
        since_ms, before_ms = since_ms + 2 * DAY_MS, before_ms + 2 * DAY_MS


def generate_flights(rng: np.random.Generator, rows: int) -> Iterator[Batch]:
    """Two days a batch, without the weather."""
    since_ms = BEGIN_MS
    while True:
        yield {"flights": _flights(rng, rows, since_ms)}
        since_ms += 2 * DAY_MS


def _flights(rng: np.random.Generator, count: int, since_ms: int) -> Rows:
    turn = (since_ms - BEGIN_MS) // DAY_MS
    planes, origins = zipf(rng, 250, 0.6, count, turn), zipf(rng, len(AIRPORTS), 0.9, count, turn // 6)
    hops, expected = numbers(rng, 1, len(AIRPORTS), count), numbers(rng, 40, 360, count)
    late_min = [int(one) for one in np.round(rng.normal(5, 25, count))]
    return [
        {
            "plane": f"N{planes[i]:05d}",
            "courier": COURIERS[planes[i] % len(COURIERS)],
            "origin": AIRPORTS[origins[i]],
            "destination": AIRPORTS[(origins[i] + hops[i]) % len(AIRPORTS)],
            "year": year_of(at_ms),
            "expected_min": expected[i],
            "arrived_min": expected[i] + late_min[i],
            "at_ms": at_ms,
        }
        for i, at_ms in enumerate(times_ms(rng, since_ms, 2 * DAY_MS, count, late_ratio=0.02, late_ms=3 * DAY_MS))
    ]


def _weather(rng: np.random.Generator, since_ms: int) -> Rows:
    shares = np.minimum(1.0, rng.gamma(0.4, 0.3, 2 * len(AIRPORTS)))
    stations = [(airport, day) for day in range(2) for airport in AIRPORTS]
    return [
        {"station": airport, "rain": int(share * HIGHEST[airport]), "at_ms": since_ms + day * DAY_MS + DAY_MS // 2}
        for (airport, day), share in zip(stations, shares, strict=True)
    ]


def year_of(at_ms: int) -> int:
    """The year, of UTC."""
    return int(np.datetime64(at_ms, "ms").astype("datetime64[Y]").astype(int)) + 1970


def delays(read: Read) -> DataFrame:
    """Flights with their delay, minutes; one that is early has none."""
    return read("flights").withColumn("delay_min", F.greatest(F.expr("arrived_min - expected_min"), F.lit(0)))


def build_rain(read: Read) -> DataFrame:
    """Delays of each courier, day and tenth of the rain score where its flights began: a join, then a sum."""
    flown = timed(delays(read), FLIGHT_DELAY_MS).select(
        "courier", "origin", "delay_min", F.window("at", "1 day").alias("window")
    )
    scored = timed(read("weather"), WEATHER_DELAY_MS).join(read("stations"), "station")
    rain = scored.select(
        "station",
        F.expr("least(100, rain * 100 div highest) div 10 * 10").alias("score"),
        F.window("at", "1 day").alias("measured"),
    )
    same = (F.col("origin") == F.col("station")) & (F.col("window") == F.col("measured"))
    joined = flown.join(rain, same).select("window", "courier", "score", "delay_min")
    sums = joined.groupBy("window", "courier", "score").agg(
        F.sum("delay_min").alias("delay_min"), F.count("*").alias("flights")
    )
    return sums.select(ends(), "courier", "score", "flights", "delay_min")


def _delay_min(flight: Row) -> int:
    return int(max(0, flight["arrived_min"] - flight["expected_min"]))


def _sums(name: str, names: tuple[str, str]) -> Query:
    """Flights and delays by two columns, without end."""

    def build(read: Read) -> DataFrame:
        sums = delays(read).groupBy(*names).agg(F.sum("delay_min").alias("delay_min"), F.count("*").alias("flights"))
        return sums.select(*names, "flights", "delay_min")

    def answer(taken: Sequence[Taken]) -> list[Rows]:
        arrivals = (
            [((one[names[0]], one[names[1]]), (1, _delay_min(one))) for one in batch.rows.get("flights", ())]
            for batch in taken
        )
        sums = changed(arrivals, add_pairs)
        return as_rows(
            ([(*key, *value) for key, value in some.items()] for some in sums), *names, "flights", "delay_min"
        )

    return Query(name=name, build=build, answer=answer, output_mode="update")


def answer_rain(taken: Sequence[Taken]) -> list[Rows]:
    """Flights and rain of a day and an airport, whichever comes first; both are kept until the day has closed."""
    clocks = ((column("flights"), FLIGHT_DELAY_MS), (column("weather"), WEATHER_DELAY_MS))
    when = marks(taken, *clocks)
    flown: dict[tuple[int, str], list[tuple[str, int]]] = {}
    rain: dict[tuple[int, str], list[int]] = {}
    arrivals = []
    for mark, batch in zip(when, taken, strict=True):
        new_rain = _by_day(batch.rows.get("weather", ()), "station", lambda one: score(one["station"], one["rain"]))
        new_flown = _by_day(batch.rows.get("flights", ()), "origin", lambda one: (one["courier"], _delay_min(one)))
        new = []
        for place, flights in _on_time(new_flown, mark.late_ms).items():
            new += [(place[0], (who, bin_), (1, late)) for who, late in flights for bin_ in rain.get(place, ())]
            flown.setdefault(place, []).extend(flights)
        for place, bins in _on_time(new_rain, mark.late_ms).items():
            new += [(place[0], (who, bin_), (1, late)) for who, late in flown.get(place, ()) for bin_ in bins]
            rain.setdefault(place, []).extend(bins)
        arrivals.append((mark, new))
        flown, rain = _on_time(flown, mark.now_ms), _on_time(rain, mark.now_ms)
    tuples = ([(end, *key, *value) for end, key, value in some] for some in closed(arrivals, add_pairs))
    return as_rows(tuples, "ends_ms", "courier", "score", "flights", "delay_min")


def score(station: str, rain: int) -> int:
    """The rain of the most there ever was there, percent, in steps of ten."""
    return min(100, rain * 100 // HIGHEST[station]) // 10 * 10


def _by_day(rows: Sequence[Row], place: str, value: Callable[[Row], T]) -> dict[tuple[int, str], list[T]]:
    found: dict[tuple[int, str], list[T]] = {}
    for row in rows:
        found.setdefault((windows(row["at_ms"], DAY_MS)[0], row[place]), []).append(value(row))
    return found


def _on_time(found: Mapping[tuple[int, str], T], until_ms: int) -> dict[tuple[int, str], T]:
    return {place: one for place, one in found.items() if place[0] > until_ms}


PLANES, ROUTES = _sums("planes", ("plane", "year")), _sums("routes", ("origin", "destination"))
RAIN = Query(name="couriers-in-rain", build=build_rain, answer=answer_rain)
ONLY_FLIGHTS = {"flights": STREAMS["flights"]}
JOBS = (
    Job(
        name="albic-2",
        source="ALBIC, section 5.3, real job 2",
        about="delays by plane and year",
        streams=ONLY_FLIGHTS,
        generate=generate_flights,
        queries=(PLANES,),
    ),
    Job(
        name="albic-3",
        source="ALBIC, section 5.3, real job 3",
        about="delays by plane and year, and by route",
        streams=ONLY_FLIGHTS,
        generate=generate_flights,
        queries=(PLANES, ROUTES),
    ),
    Job(
        name="albic-4",
        source="ALBIC, section 5.3, real job 4",
        about="job 3, and couriers in the rain: a join with the weather, then a sum",
        streams=STREAMS,
        tables={
            "stations": (
                "station string, highest long",
                [{"station": name, "highest": most} for name, most in HIGHEST.items()],
            )
        },
        generate=generate,
        queries=(PLANES, ROUTES, RAIN),
    ),
)
