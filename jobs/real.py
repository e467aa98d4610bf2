"""The papers' own data sets, as their publishers give them: lines of a downloaded file to rows of a stream.

Nothing is downloaded here. Formats are those that their publishers describe; a line that is no record is left out.
"""

from __future__ import annotations

import calendar
import csv
import datetime
import random
from collections.abc import Callable, Iterable, Iterator

from jobs.albic.edits import DENMARK
from jobs.job import Row

Loader = Callable[[Iterable[str]], Iterator[Row]]


def wikipedia_edits(lines: Iterable[str]) -> Iterator[Row]:
    """SNAP's `wiki-meta`: `REVISION article_id revision_id title 2002-02-25T15:00:22Z editor user_id`, and other lines.

    It has no places: each edit gets one in Denmark by chance, as in the ALBIC paper, the same one in every run.
    """
    chance, (latitudes, longitudes) = random.Random(0), DENMARK
    for line in lines:
        words = line.split()
        if len(words) < 5 or words[0] != "REVISION":
            continue
        yield {
            "article": int(words[1]),
            "latitude": chance.randrange(*latitudes),
            "longitude": chance.randrange(*longitudes),
            "at_ms": _ms(datetime.datetime.fromisoformat(words[4])),
        }


def airline_on_time(lines: Iterable[str]) -> Iterator[Row]:
    """Airline On-Time as the ASA's Data Expo of 2009 has it: CSV with a head, a file a year.

    Times of departure are local; they are taken as UTC, since the file names no zone. A flight without a delay or a
    plane was cancelled or diverted, and is left out.
    """
    for one in csv.DictReader(lines):
        if not _whole(one["ArrDelay"]) or not _whole(one["CRSElapsedTime"]) or one["TailNum"] in ("", "NA"):
            continue
        planned = int(one["CRSDepTime"])
        day = datetime.datetime(int(one["Year"]), int(one["Month"]), int(one["DayofMonth"]), tzinfo=datetime.UTC)
        expected_min = int(one["CRSElapsedTime"])
        yield {
            "plane": one["TailNum"],
            "courier": one["UniqueCarrier"],
            "origin": one["Origin"],
            "destination": one["Dest"],
            "year": day.year,
            "expected_min": expected_min,
            "arrived_min": expected_min + int(one["ArrDelay"]),
            "at_ms": _ms(day) + 60_000 * (planned // 100 * 60 + planned % 100),
        }


def tcp_trace(lines: Iterable[str]) -> Iterator[Row]:
    """The Internet Traffic Archive's `lbl-pkt` TCP traces: seconds, source, target, both ports, bytes, by blanks.

    Their seconds count from the trace's begin, and so do ours.
    """
    for line in lines:
        words = line.split()
        if len(words) != 6:
            continue
        source, target, source_port, target_port, size = map(int, words[1:])
        yield {
            "source": source,
            "source_port": source_port,
            "target": target,
            "target_port": target_port,
            "bytes": size,
            "at_ms": round(1000 * float(words[0])),
        }


def _whole(text: str) -> bool:
    return text.removeprefix("-").isdigit()


def _ms(at: datetime.datetime) -> int:
    return 1000 * calendar.timegm(at.utctimetuple())


LOADERS: dict[str, Loader] = {"edits": wikipedia_edits, "flights": airline_on_time, "packets": tcp_trace}
"""By the stream that the rows are for."""
