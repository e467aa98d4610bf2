"""The papers' own data sets, as their publishers give them: lines of a downloaded file to rows of a stream.

Nothing is downloaded here. Formats are those that their publishers describe; a line that is no record is left out.
Files are not in the order of time: Wikipedia's has an article after another, Airline On-Time a courier after another.
"""

from __future__ import annotations

import calendar
import contextlib
import csv
import datetime
import heapq
import json
import operator
import pathlib
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping

from jobs.albic.edits import DENMARK
from jobs.feed import chunks
from jobs.job import Row

Loader = Callable[[Iterable[str]], Iterator[Row]]
NUMBERS = ("Year", "Month", "DayofMonth", "CRSDepTime", "CRSElapsedTime", "ArrDelay")
WORDS = ("TailNum", "UniqueCarrier", "Origin", "Dest")
"""Columns of Airline On-Time that a row is made of."""
AT_ONCE = 500_000
"""Rows that are sorted in memory: Wikipedia's 117 million are 234 parts, fewer than the files that may be open."""


def wikipedia_edits(lines: Iterable[str]) -> Iterator[Row]:
    """SNAP's `wiki-meta`: `REVISION article_id revision_id title 2002-02-25T15:00:22Z editor user_id`, and other lines.

    It has no places: each edit gets one in Denmark by chance, as in the ALBIC paper, the same one in every run.
    """
    chance, (latitudes, longitudes) = random.Random(0), DENMARK
    for line in lines:
        words = line.split()
        if len(words) < 5 or words[0] != "REVISION":
            continue
        with contextlib.suppress(ValueError):
            article, at_ms = int(words[1]), _ms(datetime.datetime.fromisoformat(words[4]))
            yield {
                "article": article,
                "latitude": chance.randrange(*latitudes),
                "longitude": chance.randrange(*longitudes),
                "at_ms": at_ms,
            }


def airline_on_time(lines: Iterable[str]) -> Iterator[Row]:
    """Airline On-Time as the ASA's Data Expo of 2009 has it: CSV with a head, a file a year.

    Times of departure are local; they are taken as UTC, since the file names no zone. A flight without a delay or a
    plane was cancelled or diverted, and is left out. ValueError for a file of other columns.
    """
    table = csv.DictReader(lines)
    missing = [name for name in (*NUMBERS, *WORDS) if name not in (table.fieldnames or ())]
    if missing:
        raise ValueError(f"file: no column {', '.join(missing)} in its head; the Data Expo's files have them.")
    for one in table:
        if all(one[name] not in (None, "", "NA") for name in WORDS):
            with contextlib.suppress(ValueError, TypeError):
                yield _flight(one)


def _flight(one: Mapping[str, str]) -> Row:
    """ValueError or TypeError where a number is none, or missing."""
    year, month, day_of_month, planned, expected_min, late_min = (int(one[name]) for name in NUMBERS)
    day = datetime.datetime(year, month, day_of_month, tzinfo=datetime.UTC)
    return {
        "plane": one["TailNum"],
        "courier": one["UniqueCarrier"],
        "origin": one["Origin"],
        "destination": one["Dest"],
        "year": year,
        "expected_min": expected_min,
        "arrived_min": expected_min + late_min,
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
        with contextlib.suppress(ValueError, OverflowError):  # a word, or "inf"
            source, target, source_port, target_port, size = map(int, words[1:])
            yield {
                "source": source,
                "source_port": source_port,
                "target": target,
                "target_port": target_port,
                "bytes": size,
                "at_ms": round(1000 * float(words[0])),
            }


def in_order(rows: Iterator[Row], folder: pathlib.Path, at_once: int = AT_ONCE) -> Iterator[Row]:
    """The rows by their time, however many there are: parts of them are sorted, kept in `folder` and merged."""
    by_time = operator.itemgetter("at_ms")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".sorting-") as name, contextlib.ExitStack() as stack:
        parts = []
        for number, some in enumerate(chunks(rows, at_once)):
            part = pathlib.Path(name) / str(number)
            part.write_text("".join(json.dumps(row) + "\n" for row in sorted(some, key=by_time)), encoding="utf-8")
            parts.append(stack.enter_context(part.open(encoding="utf-8")))
        yield from heapq.merge(*(map(json.loads, part) for part in parts), key=by_time)


def _ms(at: datetime.datetime) -> int:
    return 1000 * calendar.timegm(at.utctimetuple())


LOADERS: dict[str, Loader] = {"edits": wikipedia_edits, "flights": airline_on_time, "packets": tcp_trace}
"""By the stream that the rows are for."""
