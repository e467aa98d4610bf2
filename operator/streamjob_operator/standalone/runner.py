"""The loop in real time: cycles by the clock and by what happens, until the job ends or somebody stops it."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable

import numpy as np

from streamjob_operator.cycle import turn
from streamjob_operator.events import Event
from streamjob_operator.ports import Ports
from streamjob_operator.spec import StreamJob
from streamjob_operator.waking.cadence import Cadence, Seen

POLL_S = 0.2


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RealTime:
    """The clock of the world; tests have another one. `sleep` returns early when `stop` is set."""

    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclasses.dataclass(kw_only=True)
class Runner:
    """Runs cycles. `watch` is called several times a second and tells whether the job is over, `look` what is seen.

    `follow` gives the job as a person has edited it since, None where nobody can. `note` is what a person should know
    of measurements that are there; it is told when it becomes another one.
    """

    ports: Ports
    job: StreamJob
    watch: Callable[[], bool]
    tell: Callable[[str], None]
    look: Callable[[], Seen] = Seen
    follow: Callable[[], StreamJob | None] = lambda: None
    note: Callable[[], str | None] = lambda: None
    duration_s: float | None = None
    times: RealTime = dataclasses.field(default_factory=RealTime)
    stop: threading.Event = dataclasses.field(default_factory=threading.Event)
    rng: np.random.Generator = dataclasses.field(default_factory=np.random.default_rng)
    cadence: Cadence = dataclasses.field(default_factory=Cadence)
    failures: int = 0
    noted: str | None = None

    def run(self) -> None:
        """Until the job is over, `duration_s` has passed, or `stop` is set."""
        started_s = self.times.monotonic()
        while not self._over(started_s):
            self.job = self.follow() or self.job
            seen = self.look()
            events = self.cadence.happened(seen)
            wait_s = self.cadence.due_s(self._period_s, events, seen) - self.times.monotonic()
            if wait_s <= 0:
                self._cycle(seen, events)
            else:
                self.times.sleep(min(POLL_S, wait_s))

    def _over(self, started_s: float) -> bool:
        late = self.duration_s is not None and self.times.monotonic() - started_s >= self.duration_s
        return self.stop.is_set() or late or self.watch()

    @property
    def _period_s(self) -> float:
        return self.job.spec.balancing.statistics_period_s

    def _cycle(self, seen: Seen, events: tuple[Event, ...]) -> None:
        self.cadence.began(self.times.monotonic(), seen)
        try:
            record = turn(self.ports, self.job, self.times.now(), self.rng, self.times.monotonic, events)
            self.cadence.ended(record, self._period_s)
        except Exception as error:  # noqa: BLE001 - the job runs on, and the next cycle starts from the saved memory
            self.failures += 1
            self.tell(f"The cycle failed, the job goes on as it is: {type(error).__name__}: {error}")
        note = self.note()
        if note is not None and note != self.noted:
            self.tell(note)
        self.noted = note
