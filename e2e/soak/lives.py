"""One query of the soak from its start to its end: fed, failed on purpose, started again, its answer compared."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import random
import shutil
from collections.abc import Sequence
from typing import Any

from pyspark.errors import StreamingQueryException

from e2e.compatibility import lines
from e2e.compatibility.answers import in_order
from e2e.compatibility.lines import CLOSING, CLOSING_KEY, SCHEMA, Line
from e2e.compatibility.queries import SHAPES

ON_PURPOSE = "fails on purpose"
FEWEST_FILES, MOST_FILES = 4, 10
LONGEST_S = 1800.0
"""A query that takes longer hangs: on two busy cores they take minutes."""
AHEAD = 2
"""Files that wait to be taken in, at most: whoever steps the queries waits for none of them for long."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What will happen to a query.

    Attributes:
        shape: see :data:`e2e.compatibility.queries.SHAPES`.
        files: of its input.
        own_session: whether it runs in a session of its own.
        session_a_batch: whether its sink makes a session for each batch, as users do for temporary views.
        fails_at: batches at which its sink raises, once each.
        stops_at: numbers of files after which it is stopped and started again.
        given_up: whether it is left after its first failure.
    """

    shape: str
    files: int
    own_session: bool
    session_a_batch: bool
    fails_at: frozenset[int]
    stops_at: frozenset[int]
    given_up: bool


def fate(chance: random.Random, shapes: Sequence[str] = tuple(SHAPES)) -> Fate:
    """A fate by chance."""
    files = chance.randint(FEWEST_FILES, MOST_FILES)
    fails = chance.random() < 0.4
    return Fate(
        shape=chance.choice(shapes),
        files=files,
        own_session=chance.random() < 0.5,
        session_a_batch=chance.random() < 0.3,
        fails_at=frozenset({chance.randrange(1, files)}) if fails else frozenset(),
        stops_at=frozenset({chance.randrange(1, files)}) if chance.random() < 0.4 else frozenset(),
        given_up=fails and chance.random() < 0.3,
    )


@dataclasses.dataclass(slots=True)
class Tally:
    """What happened so far, for the page."""

    started: int = 0
    stopped: int = 0
    failed_on_purpose: int = 0
    failed_otherwise: int = 0
    refused: int = 0
    given_up: int = 0
    exact: int = 0
    sessions: int = 0
    wrong: list[str] = dataclasses.field(default_factory=list)


class Life:
    """A query, its folder and its fate."""

    def __init__(self, name: str, given: Fate, folder: pathlib.Path, tally: Tally, begun_s: float) -> None:
        self._begun_s = begun_s
        self.name, self.fate, self.folder, self.tally = name, given, folder, tally
        self.written: list[Line] = []
        self.files = 0
        self.over = False
        self._sink = Sink(folder / "said", given)
        self._query: Any = None
        self._stopped: set[int] = set()
        (folder / "input").mkdir(parents=True)

    def step(self, spark: Any) -> None:
        """A little further: a start, a file, a stop, a failure seen to, the end."""
        if self._query is None:
            self._start(spark)
        elif not self._query.isActive:
            self._see_to(self._query.exception())
        elif self.files in self.fate.stops_at - self._stopped:
            self._stopped.add(self.files)
            self._query.stop()
            self._query = None
            self.tally.stopped += 1
        elif self.files - self._sink.batches() >= AHEAD:
            return
        elif self.files < self.fate.files:
            self._write(lines.lines(self.files))
        elif self.files == self.fate.files:
            self._write(CLOSING)
        else:
            self._finish()

    def leave(self, now_s: float) -> None:
        """The soak is over before it is: no fault, unless it hangs."""
        took_s = now_s - self._begun_s
        if took_s > LONGEST_S:
            taken = f"{self._sink.batches()} of {self.fate.files} files taken in"
            self.tally.wrong.append(f"{self.name}, {self.fate.shape}: not done after {took_s:.0f} s, {taken}")

    def _start(self, spark: Any) -> None:
        session = spark.newSession() if self.fate.own_session else spark
        self.tally.sessions += self.fate.own_session
        shape = SHAPES[self.fate.shape]
        writer = shape.build(lambda: self._read(session)).writeStream.queryName(self.name).outputMode(shape.mode)
        writer = writer.option("checkpointLocation", str(self.folder / "checkpoint"))
        self._query = writer.foreachBatch(self._sink).start()
        self.tally.started += 1

    def _read(self, session: Any) -> Any:
        reader = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.csv(str(self.folder / "input")).selectExpr("k", "v", "timestamp_seconds(t) AS t")

    def _write(self, given: tuple[Line, ...]) -> None:
        draft = self.folder / "draft"
        draft.write_text(lines.text(given))
        draft.rename(self.folder / "input" / f"{self.files:05d}.csv")
        self.files += 1
        self.written += [one for one in given if one not in CLOSING]

    def _see_to(self, error: Any) -> None:
        """It has failed: left as it is, or started again on its checkpoint."""
        if ON_PURPOSE in str(error):
            self.tally.failed_on_purpose += 1
        else:
            self.tally.failed_otherwise += 1
            self.tally.wrong.append(f"{self.name}, {self.fate.shape}: {' '.join(str(error).split())[:300]}")
        self._query = None
        if self.fate.given_up:
            self.tally.given_up += 1
            self._end()

    def _finish(self) -> None:
        """The last of it taken in, the answer compared."""
        shape = SHAPES[self.fate.shape]
        try:
            shape.take_in(self._query, self.files)
        except StreamingQueryException:  # the next step sees to it, and one after that comes here again
            return
        if not self._query.isActive:
            return
        self._query.stop()
        wanted, found = shape.answer(self.written), self._sink.rows(shape.newest)
        if wanted == found:
            self.tally.exact += 1
        else:
            self.tally.wrong.append(f"{self.name}, {self.fate.shape}: {len(wanted)} rows are right, {len(found)} found")
        self._end()

    def _end(self) -> None:
        self._query = None
        self.over = True
        shutil.rmtree(self.folder, ignore_errors=True)


class Sink:
    """What a query says, a file for each batch; a batch that is run again replaces its own."""

    def __init__(self, folder: pathlib.Path, given: Fate) -> None:
        self.folder = folder
        self._session_a_batch = given.session_a_batch
        self._fails_at = set(given.fails_at)
        folder.mkdir(parents=True)

    def __call__(self, frame: Any, batch: int) -> None:
        """A batch's rows, kept."""
        if batch in self._fails_at:
            self._fails_at.discard(batch)
            raise RuntimeError(ON_PURPOSE)
        if self._session_a_batch:
            session = frame.sparkSession.newSession()
            session.range(3).createOrReplaceTempView("numbers")
            session.sql("SELECT max(id) FROM numbers").collect()
        draft = self.folder / f"{batch}.draft"
        draft.write_text(json.dumps([[*row] for row in frame.collect()]))
        draft.rename(self.folder / f"{batch}.json")

    def batches(self) -> int:
        """How many were kept."""
        return sum(1 for _ in self.folder.glob("*.json"))

    def rows(self, newest: bool) -> list[list[Any]]:
        """All rows, or the newest of each key, without the line that closes windows."""
        files = sorted(self.folder.glob("*.json"), key=lambda path: int(path.stem))
        rows = [row for path in files for row in json.loads(path.read_text())]
        said = [row for row in rows if row[0] != CLOSING_KEY]
        return in_order({row[0]: row for row in said}.values() if newest else said)
