"""One row on this Python's Spark: its program, the acts, its answer."""

from __future__ import annotations

import datetime
import json
import pathlib
import random
import time
from collections.abc import Mapping
from typing import Any

from e2e.compatibility import rows
from e2e.compatibility.acts import ACTS
from e2e.compatibility.outcome import Outcome
from e2e.compatibility.place import NotHere, Place, surroundings
from e2e.compatibility.queries import SHAPES
from e2e.compatibility.rows import COMMON, Row
from e2e.compatibility.running import NotSeen, Running

FILES_UNTOUCHED = 4
"""More input of a job that nobody touches."""


def run(row: Row, folder: pathlib.Path, seed: int = 1) -> Outcome:
    """Run a row in an empty folder. What goes wrong is in the outcome."""
    import pyspark

    began_s = time.monotonic()
    version = str(pyspark.__version__)
    trial = Trial(row, folder, random.Random(seed))
    missing = None
    try:
        if _numbers(version) < row.since:
            raise NotHere(f"Spark {'.'.join(map(str, row.since))} and newer have it")
        with surroundings(row, folder) as place:
            trial.run(place)
    except NotHere as error:
        missing = str(error)
    except NotSeen as error:
        trial.wrong.append(str(error))
    return Outcome(
        row=row.name,
        spark=version,
        java=trial.java,
        day=datetime.date.today().isoformat(),
        took_s=round(time.monotonic() - began_s, 1),
        told=tuple(trial.told),
        wrong=tuple(trial.wrong),
        not_run=missing,
    )


class Trial:
    """A row as it goes on: what was seen so far, and what is wrong."""

    def __init__(self, row: Row, folder: pathlib.Path, chance: random.Random) -> None:
        self.told: list[str] = []
        self.wrong: list[str] = []
        self.java = ""
        self._row, self._folder, self._chance = row, folder, chance

    def run(self, place: Place) -> None:
        """Start the program, do to it what the row says, look at its answer. Raises NotSeen."""
        row = self._row
        self._order(place)
        running = Running(
            self._folder, place.env, f"e2e.compatibility.{row.program}", agent=row.door == rows.RUN, feeds=row.endless
        )
        try:
            running.write(row.files_first)
            running.begin()
            if row.door == rows.INSTALL:
                running.write(FILES_UNTOUCHED)
                running.ask("install")
            for name in row.acts:
                self._act(running, name)
            if not row.acts and row.endless:
                self._leave_alone(running)
            if rows.KILL not in row.acts:
                self._errors(running)
            result = running.finish()
        finally:
            running.end()
        self.java = str(result["java"])
        self._check(running, result)

    def _order(self, place: Place) -> None:
        row = self._row
        order = {
            "conf": {**COMMON, "spark.local.dir": str(self._folder / "local"), **row.conf, **place.conf},
            "session": dict(place.session),
            "queries": dict(row.queries),
            "checkpoint": place.checkpoint,
            "trigger": dict(row.trigger),
            "files_a_batch": row.files_a_batch,
            "pause_s": row.pause_s,
            "own_jobs": row.own_jobs,
            "loses_shuffle": row.loses_shuffle,
            "own_files": row.own_files,
            "ended": row.ended,
            "plugin": row.door == rows.PLUGIN,
        }
        (self._folder / "order.json").write_text(json.dumps(order))

    def _act(self, running: Running, name: str) -> None:
        if name == rows.KILL:  # no task may have failed before
            running.ask("count")
            self._failed(running.read("before.json")["failed_tasks"])
            self._errors(running)
        self.told.append(ACTS[name](running, list(self._row.queries), self._chance))

    def _leave_alone(self, running: Running) -> None:
        """What the agent says of a job that it does not touch, and some more input; its end waits for all of it."""
        off = self._row.off
        if off is None:
            status = running.until("the agent's self-test", lambda status: "spark_version" in status.self_test)
            self.told.append(f"actuation {status.actuation}, {len(status.queries)} queries with state")
        else:
            status = running.until(
                "the agent's reason", lambda status: status.actuation != "on" and off in status.message
            )
            self.told.append(status.message)
        running.write(FILES_UNTOUCHED)

    def _check(self, running: Running, result: Mapping[str, Any]) -> None:
        for name, shape in self._row.queries.items():
            wanted, found = SHAPES[shape].answer(running.written), result["rows"][name]
            if wanted != found:
                differ = [pair for pair in zip(wanted, found, strict=False) if pair[0] != pair[1]][:3]
                self.wrong.append(f"{name}: {len(wanted)} rows are right, {len(found)} were found; first: {differ}")
        if rows.KILL not in self._row.acts:
            self._failed(result["failed_tasks"])

    def _failed(self, tasks: int) -> None:
        if self._row.loses_shuffle:
            self.told.append(f"{tasks} tasks found files lost")
            if not tasks:
                self.wrong.append("no task failed: the files that were lost were not needed")
        elif tasks:
            self.wrong.append(f"{tasks} tasks failed that nobody had killed")

    def _errors(self, running: Running) -> None:
        """What the agent caught of its own: no harm to the job, but before a kill there is no reason for any."""
        status = running.status()
        if status is not None and status.errors_total:
            self.told.append(f"{status.errors_total} errors of the agent's own ({status.message})")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
