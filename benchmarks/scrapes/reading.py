"""Who reads a job's series, and when: after each scrape, or the agent's own page once a second."""

from __future__ import annotations

import contextlib
import math
import threading
import time

from benchmarks.scrapes.course import Course
from benchmarks.scrapes.figures import CLOCK_S, Told, Watched
from e2e.simulated.scripted_agent import ScriptedAgent

from streamjob_agent.wire import AgentStatus
from streamjob_operator.agent_http.metrics import SCRAPE_S
from streamjob_operator.ports import MetricsSource, Trouble
from streamjob_operator.series import BatchSeries
from streamjob_operator.values import Snapshot
from streamjob_operator.waking.cadence import EARLY_GAP_S
from streamjob_operator.waking.rows import Rows, change_times_s, changed

WINDOW_S = 300.0
"""The default statistics period."""
AGAIN_S = 0.01
"""Between two readings while Prometheus has not stored yet what it has scraped."""
MAKE_A_WINDOW = 3
"""Scrapes that found more batches: no window begins before the second one."""


class Job:
    """A scripted agent and the batches that it is to have; `ends_s` of those that have ended."""

    def __init__(self, name: str, course: Course) -> None:
        self.course = course
        self.agent = ScriptedAgent(name, owners="01" * (course.busy_s.shape[1] // 2), query=name)
        self.ends_s: list[float] = []

    def batch(self) -> None:
        """The next one ends."""
        self.agent.batch(*self.course.busy_s[len(self.ends_s)].tolist())
        self.ends_s.append(self.agent.ended_at_s)

    @property
    def quiet_s(self) -> list[float]:
        """Ends of the batches before the load shifts."""
        return self.ends_s[: self.course.shifted]

    @property
    def shifted_s(self) -> list[float]:
        """Ends of the batches since."""
        return self.ends_s[self.course.shifted :]


class OwnPage:
    """The scripted agent as a client of its own page has it, without HTTP."""

    def __init__(self, agent: ScriptedAgent) -> None:
        self._agent = agent

    def page(self, most_bytes: int) -> bytes:
        return self._agent.page()

    def status(self) -> AgentStatus:
        return self._agent.status()


class Reader:
    """Reads each second in a thread of its own, by the function that cycles use. A context manager."""

    gap_s: float | None = None

    def __init__(self, job: Job, metrics: MetricsSource) -> None:
        self.told: list[Told] = []
        self.scraped: list[Told] | None = None
        self.cpu_s: list[float] = []
        self._job, self._metrics = job, metrics
        self._before: BatchSeries | None = None
        self._known_s: tuple[float, ...] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Reader:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def watched(self) -> Watched:
        """What there was to see, and what was seen of it."""
        return Watched(
            ends_s=self._job.ends_s,
            shifted_s=self._job.shifted_s,
            told=self.told,
            scraped=self.scraped,
            gap_s=self.gap_s,
            reading_cpu_s=self.cpu_s,
        )

    def _run(self) -> None:
        while not self._stop.wait(SCRAPE_S):
            self._read()

    def _read(self) -> None:
        begun_s = time.thread_time()
        with contextlib.suppress(Trouble):  # two batches make a window
            self._take(self._metrics.observe(time.time(), WINDOW_S), begun_s)

    def _take(self, snapshot: Snapshot, begun_s: float) -> None:
        at_s, series, end_s = time.time(), snapshot.series, snapshot.rates.last_batch_at_s
        self.cpu_s.append(time.thread_time() - begun_s)
        if series is not None and (not self.told or end_s > self.told[-1].newest_end_s):
            batches, anew = int(series.batches[-1]), self._anew(snapshot, series, end_s)
            self.told.append(Told(at_s=at_s, newest_end_s=end_s, batches=batches, changed=anew))

    def _anew(self, snapshot: Snapshot, series: BatchSeries, end_s: float) -> bool:
        """Whether the change point is seen: not before there is one, and from then on."""
        if end_s <= self._job.quiet_s[-1] + CLOCK_S:
            self._before = series
        if end_s < min(self._job.shifted_s, default=math.inf) - CLOCK_S:
            return False
        if self._known_s is None:
            self._known_s = change_times_s(self._before)
        slots = {one.executor_id: one.cores for one in snapshot.executors}
        rows = Rows(series=series, owners=snapshot.owners, slots=slots)
        return self.told[-1].changed or changed(self._known_s, rows) is not None


class AfterScrapes(Reader):
    """Reads after each scrape that found more batches; `page` is for Prometheus to scrape, `scraped` what it found."""

    gap_s = EARLY_GAP_S

    def __init__(self, job: Job, metrics: MetricsSource) -> None:
        super().__init__(job, metrics)
        self.scraped = []
        self._more = threading.Event()

    def page(self) -> bytes:
        agent = self._job.agent
        newest_end_s, body = agent.ended_at_s, agent.page()
        if newest_end_s and (not self.scraped or newest_end_s > self.scraped[-1].newest_end_s):
            self.scraped.append(Told(at_s=time.time(), newest_end_s=newest_end_s))
            self._more.set()
        return body

    def _run(self) -> None:
        while not self._stop.is_set():
            if self._more.wait(SCRAPE_S):
                self._more.clear()
                self._read_it()

    def _read_it(self) -> None:
        while len(self.scraped) >= MAKE_A_WINDOW and not self._stop.is_set():
            self._read()
            if self.told and self.told[-1].newest_end_s >= self.scraped[-1].newest_end_s - CLOCK_S:
                return
            self._stop.wait(AGAIN_S)
