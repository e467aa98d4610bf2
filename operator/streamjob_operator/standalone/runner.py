"""The loop in real time: one cycle each statistics period until the job ends, the time is over or somebody stops it."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable

import numpy as np

from streamjob_operator.cycle import turn
from streamjob_operator.ports import Ports
from streamjob_operator.spec import StreamJob

POLL_S = 0.2


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RealTime:
    """The clock of the world; tests have another one. `sleep` returns early when `stop` is set."""

    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclasses.dataclass(kw_only=True)
class Runner:
    """Runs cycles. `watch` is called several times a second and tells whether the job is over."""

    ports: Ports
    job: StreamJob
    watch: Callable[[], bool]
    tell: Callable[[str], None]
    duration_s: float | None = None
    times: RealTime = dataclasses.field(default_factory=RealTime)
    stop: threading.Event = dataclasses.field(default_factory=threading.Event)
    rng: np.random.Generator = dataclasses.field(default_factory=np.random.default_rng)
    failures: int = 0

    def run(self) -> None:
        """Until the job is over, `duration_s` has passed, or `stop` is set."""
        started_s = self.times.monotonic()
        due_s = started_s
        while not self._over(started_s):
            if self.times.monotonic() >= due_s:
                self._cycle()
                due_s = self._next(due_s)
            self.times.sleep(min(POLL_S, max(0.0, due_s - self.times.monotonic())))

    def _over(self, started_s: float) -> bool:
        late = self.duration_s is not None and self.times.monotonic() - started_s >= self.duration_s
        return self.stop.is_set() or late or self.watch()

    def _cycle(self) -> None:
        try:
            turn(self.ports, self.job, self.times.now(), self.rng, self.times.monotonic)
        except Exception as error:  # noqa: BLE001 - the job runs on, and the next cycle starts from the saved memory
            self.failures += 1
            self.tell(f"The cycle failed, the job goes on as it is: {type(error).__name__}: {error}")

    def _next(self, due_s: float) -> float:
        """A period after the last one was due; cycles that were missed are not made up for."""
        period_s = self.job.spec.balancing.statistics_period_s
        return max(due_s + period_s, self.times.monotonic())
