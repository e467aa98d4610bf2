"""The demo's phases, and what shall be seen before each of them is over."""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable

from claims import Course, removed, settled, working
from proof import finished_batches
from source import Phase, Skew

from streamjob_operator.history import History, read_history

WARM_UP = Phase(name="warm-up", at_most_s=40, rows_per_s=90)
DAY = Phase(name="day", at_most_s=320, rows_per_s=90)
NIGHT = Phase(name="night", at_most_s=150, rows_per_s=10, tick_s=4.0)
RUSH_HOUR = Phase(name="rush hour", at_most_s=200, rows_per_s=270)
PHASES = (WARM_UP, DAY, NIGHT, RUSH_HOUR)
SHOWN: dict[Phase, Callable[[Course], bool]] = {DAY: settled, NIGHT: removed, RUSH_HOUR: working}
SKEW = Skew(partitions=8, hot_every=4, hot_weight=5.0, depots_per_partition=4, pair_ratio=0.5, repeat_ratio=0.05)
WARM_BATCHES = 5
"""Batches after which processes that have just started are warm."""


class Watch:
    """What the controller's history tells while it grows, and when each phase started."""

    def __init__(self, out: pathlib.Path) -> None:
        self._out = out
        self.phases: dict[str, float] = {}
        self._size, self._history = 0, History(cycles=(), notes=())
        self._judged = self._history

    def started(self, phase: Phase) -> None:
        """Keep the time."""
        if phase is not WARM_UP:
            self.phases[f"{phase.name}, {phase.rows_per_s} scans/s"] = time.time()
        if not sys.stdout.isatty():  # a live screen is left alone
            print(f"--- {phase.name}: {phase.rows_per_s} scans/s", flush=True)

    def is_over(self, phase: Phase) -> bool:
        """Whether what the phase is for has been seen."""
        if phase is WARM_UP:
            return len(finished_batches(self._out / "totals")) >= WARM_BATCHES
        course = self.course()
        if course.history is self._judged:
            return False  # nothing new since the last look
        self._judged = course.history
        return SHOWN[phase](course)

    def course(self) -> Course:
        """What was done so far; the file is read when there is more of it."""
        path = self._out / "history.jsonl"
        size = path.stat().st_size if path.exists() else 0
        if size != self._size:
            self._size, self._history = size, read_history(path)
        return Course(history=self._history, phases=dict(self.phases), end_s=time.time())
