"""MetricsSource that reads the agent's endpoint in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from streamjob_agent.wire import AgentStatus
from streamjob_operator.agent_http.client import AgentClient, TooLarge
from streamjob_operator.measure.batches import series_of, totals_of
from streamjob_operator.measure.joining import join
from streamjob_operator.measure.kept_pages import KeptPages, horizon_s
from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.measure.page import Page, parse_pages
from streamjob_operator.measure.query_pages import holders
from streamjob_operator.measure.room import Room
from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.values import Snapshot
from streamjob_operator.waking.cadence import Seen
from streamjob_operator.waking.rows import Rows
from streamjob_planners.advice.sentences import amount

SCRAPE_S = 1.0
UNATTACHED = ("NotAttached", "SparkConnectClient", "Attaching", "AttachFailed")
"""Reasons of an agent's status that explain why its page has no query."""
SCRAPE_COST_RATIO = 20.0
"""The pause between two scrapes is at least this times what a scrape takes, so that large jobs are read less often."""
FEW_PAGES = (
    "The agent's pages are too large to keep all of them: windows may be longer than balancing.statisticsPeriod, and "
    "what was before them is known in part"
)


class AgentMetrics:
    """Scrapes about every second; use as a context manager, or call :meth:`scrape` by hand.

    `together`: all queries of the driver are one snapshot; else it is of the one with most key groups. `room` bounds
    what is kept of the pages, together with those of other agents, `limits` how large one may be. A large one is read
    within `turn`, which may raise Unavailable: what is read at once is some MiB for each job then, and large ones lose
    little by it, since reading holds the interpreter's lock. Without `keeps_status` nobody asks between cycles what the
    agent's status is.
    """

    def __init__(
        self,
        client: AgentClient,
        window_s: float,
        clock: Callable[[], float] = time.time,
        *,
        together: bool = False,
        room: Room | None = None,
        limits: ReadingLimits | None = None,
        turn: Callable[[], AbstractContextManager[None]] = nullcontext,
        keeps_status: bool = True,
    ) -> None:
        self._client = client
        self._clock = clock
        self._together = together
        self._turn = turn
        self._keeps_status = keeps_status
        self._window_s = window_s
        self._limits = ReadingLimits() if limits is None else limits
        self._pages = KeptPages(window_s, Room() if room is None else room, together=together)
        self._large = False
        self._lock = threading.Lock()
        self._pause_s = SCRAPE_S
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="agent-metrics", daemon=True)
        self.failed_scrapes = 0
        self._seen = Seen()

    def __enter__(self) -> AgentMetrics:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()
        self._thread.join(timeout=10.0)

    def let_go(self) -> None:
        """No page is read any more. One that is being read, of an agent that may hang, is not waited for."""
        self._stop.set()

    def scrape(self) -> None:
        """Read one page between two observations; a failure is counted: the next observation runs into it anyway."""
        try:
            with self._reading() as page:
                pass
            self._look(page)
        except Unavailable:
            self.failed_scrapes += 1

    @property
    def seen(self) -> Seen:
        """What was seen last, without asking the agent."""
        return self._seen

    @property
    def note(self) -> str | None:
        """What a person should know of measurements that are there: pages had to go lately."""
        lately_s, thinned_at_s = self._clock() - horizon_s(self._window_s), self._pages.thinned_at_s
        lately = thinned_at_s is not None and thinned_at_s >= lately_s
        return f"{FEW_PAGES}{self._limits.room_of}." if lately else None

    def _look(self, page: Page) -> None:
        """The status with each page; the same rows until another batch has ended."""
        status, rows = self._client.status() if self._keeps_status else None, self._seen.rows
        with self._lock:
            pages = self._pages.queries.get(page.query_id)  # it may have ended since
            ends = () if pages is None else pages.ring.ends
        if not ends:
            rows = None
        elif rows is None or rows.series.ended_at_s[-1] != ends[-1].at_s:
            series = series_of([totals_of(one, page.group_ids) for one in ends])
            slots = {executor: cores for (executor, _), cores in page.executors.items()}
            rows = None if series is None else Rows(series=series, owners=page.owners, slots=slots)
        self._seen = Seen(status=status, rows=rows)

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        """The newest whole batches of at least window_s; raises Unavailable or Stale.

        A page is read after the status: a move that the status calls done is then seen in the page's owners, or it
        would be planned once more.
        """
        status = self._client.status()
        try:
            with self._lock:
                self._window_s = window_s
                self._pages.keep(window_s)  # the period may have been edited
            with self._reading() as newest:
                return self._snapshot(newest, status, now_s, window_s)
        except Unavailable as error:
            if status.reason in UNATTACHED:
                raise Unavailable(f"The agent measures nothing: {status.message}.") from error
            raise

    def _snapshot(self, newest: Page, status: AgentStatus, now_s: float, window_s: float) -> Snapshot:
        if status.application_id != newest.application_id:
            raise Stale(f"The driver is {newest.application_id} now, its status was that of {status.application_id}.")
        queries = self._pages.queries
        if len(queries) == 1 or not self._together:
            return queries[newest.query_id].snapshot(status, now_s, window_s)
        measured: list[Snapshot] = []
        unmeasured: dict[str, Unavailable] = {}
        for query_id, pages in queries.items():
            try:
                measured.append(pages.snapshot(status, now_s, window_s))
            except Unavailable as error:
                unmeasured[query_id] = error
        if not measured:
            raise unmeasured[newest.query_id]
        names = {one.query_id: one.name or one.query_id for one in status.queries}
        return join(measured, names, {names.get(one, one): holders(status, one) for one in unmeasured})

    @contextmanager
    def _reading(self) -> Iterator[Page]:
        """Read one page into the rings, that of the query with most key groups. Nobody else does meanwhile, which keeps
        them in the order of their time; nor is another large page read, but in other turns."""
        if not self._large:
            with self._lock:
                try:
                    page = self._read(self._limits.large_bytes)
                except TooLarge:
                    self._large = True
                else:
                    yield page
                    return
        with self._turn(), self._lock:
            if self._stop.is_set():
                raise Unavailable("The agent is not read any more.")
            yield self._read_large()

    def _read_large(self) -> Page:
        try:
            return self._read(self._limits.page_bytes)
        except TooLarge as error:
            most = amount(self._limits.page_bytes)
            raise Unavailable(f"The agent's page has more than {most}{self._limits.share_of}.") from error

    def _read(self, most_bytes: int) -> Page:
        started_s = self._clock()
        body = self._client.page(most_bytes)
        self._large = len(body) > self._limits.large_bytes
        try:
            pages = parse_pages(body, self._clock())
            self._pages.add(pages, 0 if self._seen.rows is None else self._seen.rows.size_bytes)
        finally:  # one that is refused costs as much
            self._pause_s = max(SCRAPE_S, SCRAPE_COST_RATIO * (self._clock() - started_s))
        return pages[0]

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                self.scrape()
            except Exception:  # noqa: BLE001 - whatever it is, later pages are read; a cycle runs into it, and tells
                self.failed_scrapes += 1
            self._stop.wait(self._pause_s)
