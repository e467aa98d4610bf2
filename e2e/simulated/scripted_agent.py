"""An agent by script: the real ledger and exporter, fed batch by batch; and a server for many such pages."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

from e2e.loopback import OnLoopback
from streamjob_agent.bridge import (
    BatchEnd,
    ExecutorMemory,
    GroupUsage,
    Moments,
    Query,
    Sent,
    StageUsage,
    Traffic,
    TrafficReading,
    Usage,
)
from streamjob_agent.exporter import Exporter, Facts
from streamjob_agent.ledger import Ledger
from streamjob_agent.wire import AgentStatus, ExecutorStatus, GroupKey, QueryStatus

CORES = 2


class ScriptedAgent:
    """Executors 0 and 1, one query with operator 0, as many partitions as owners. `batch` is one micro-batch.

    `beside` are further queries: id -> owners, with operator 0 as well; their runs are `run`, too. `ended_at_s` is when
    the newest batch ended, by the page.
    """

    def __init__(self, application: str, owners: str = "0011", query: str = "query-1", run: str = "run-1") -> None:
        self.application, self.query, self.run = application, query, run
        self.owners = list(owners)
        self.beside: dict[str, list[str]] = {}
        self.batches = 0
        self.ended_at_s = 0.0
        self.moves_pending = 0
        self.pinned: frozenset[GroupKey] = frozenset()
        self.actuation = "on"
        self.generation: int | None = None
        self.states = {"0": "ready", "1": "ready", "7": "dead"}
        self._ledger = Ledger(traffic_min_bytes=1, traffic_max_pairs=10)
        self._exporter = Exporter(self._facts)
        self._lock = threading.Lock()

    def batch(self, *busy_s: float, count: int = 1) -> None:
        """So many micro-batches; no page is read in the middle of them."""
        with self._lock:
            for _ in range(count):
                self._batch(self.query, self.owners, *busy_s)

    def batch_beside(self, query: str, *busy_s: float) -> None:
        """One micro-batch of a further query."""
        with self._lock:
            self._batch(query, self.beside[query], *busy_s)

    def _batch(self, query: str, owners: list[str], *busy_s: float) -> None:
        self.batches, self.ended_at_s = self.batches + 1, time.time()
        groups = tuple(
            GroupUsage(
                key=GroupKey(operator=0, partition=at),
                executor_id=owner,
                counted_on=owner,
                moments=Moments(batches=1, squared_s2=busy**2),
                tasks=1,
                first_tasks=0,
                busy_s=busy,
                cpu_s=busy / 2,
                records=round(100 * busy),
                local_bytes=0,
                remote_bytes=0,
                state_rows=1,
                state_memory_bytes=2000 + at,
                state_in_heap=True,
            )
            for at, (owner, busy) in enumerate(zip(owners, busy_s, strict=True))
        )
        end = BatchEnd(
            query_id=query,
            run_id=self.run,
            batch_id=self.batches,
            ended_at_s=self.ended_at_s,
            duration_s=0.5,
            input_rows=1000,
            input_rps=None,
            processed_rps=None,
            lag_rows=7.0,
            parts_s={"queryPlanning": 0.125},
        )
        busy_of = {one: sum(b for o, b in zip(owners, busy_s, strict=True) if o == one) for one in ("0", "1")}
        self._ledger.take(
            Usage(
                groups={query: groups},
                batches=(end,),
                other_busy_s={query: 0.25},
                executor_busy_s=busy_of,
                failed_tasks=0,
                longest_stateful_stage_s=None,
                stages={query: _stages(busy_s)},
            )
        )
        self._ledger.set_state_bytes(query, {group.key: 1000 + group.key.partition for group in groups})
        ends = (GroupKey(operator=0, partition=0), GroupKey(operator=0, partition=1))
        pair = Traffic(from_key=ends[0], to_key=ends[1], size_bytes=10)
        sent = {ends[0]: Sent(size_bytes=25, partners=3)}
        self._ledger.take_traffic(query, TrafficReading(pairs=(pair,), sent=sent))

    def page(self) -> bytes:
        with self._lock:
            return self._exporter.page()

    def status(self) -> AgentStatus:
        return AgentStatus(
            agent_version="1",
            spark_version="4",
            application_id=self.application,
            now_s=time.time(),
            actuation=self.actuation,
            reason="Ok" if self.actuation == "on" else "SelfTestFailed",
            message="",
            generation_applied=self.generation,
            refused=None,
            executors=tuple(
                ExecutorStatus(executor_id=one, host=f"h{one}", cores=CORES, state=state, groups=0)
                for one, state in self.states.items()
            ),
            queries=tuple(
                QueryStatus(
                    query_id=query,
                    run_id=self.run,
                    name=None,
                    batch_id=self.batches,
                    owners={0: tuple(owners)},
                    moves_pending=self.moves_pending,
                )
                for query, owners in ({self.query: self.owners} | self.beside).items()
            ),
        )

    def _facts(self) -> Facts:
        queries = (
            Query(
                query_id=one,
                run_id=self.run,
                name=None,
                operators={0: len(owners)},
                trigger_interval_s=0.5,
                pinned=self.pinned,
            )
            for one, owners in ({self.query: self.owners} | self.beside).items()
        )
        return Facts(
            status=self.status(),
            queries=tuple(queries),
            resting=frozenset(),
            pages=self._ledger.pages(),
            executor_busy_s=self._ledger.executor_busy_s(),
            memory={"0": ExecutorMemory(used_bytes=700, limit_bytes=1000, heap_room_bytes=5000)},
            moves={},
            errors={},
            overhead_s=0.0,
            locality_wait_s=None,
        )


def _stages(busy_s: tuple[float, ...]) -> tuple[StageUsage, ...]:
    source = StageUsage(stage="free-0.0", level=0, wall_s=0.125, busy_s=0.25, longest_s=0.125)
    return source, StageUsage(
        stage="operator-0", level=1, wall_s=0.25, busy_s=sum(busy_s), longest_s=max(busy_s, default=0.0), wait_s=0.5
    )


Page = Callable[[], bytes | None]
"""Gives the page of a slot; None answers 500."""


class Pages(OnLoopback):
    """Serves /0, /1, ... from loopback, so that one Prometheus has a target for each. A context manager."""

    def __init__(self, slots: int) -> None:
        super().__init__(type("Bound", (_Handler,), {"pages": self}), poll_s=0.05)
        self._pages: dict[str, Page] = {}
        self._begun: dict[str, int] = dict.fromkeys((f"/{at}" for at in range(slots)), 0)
        self._answered = dict(self._begun)
        self._changed = threading.Condition()

    def show(self, slot: int, page: Page) -> None:
        self._pages[f"/{slot}"] = page

    def wait_for_scrapes(self, slot: int, count: int = 1, timeout_s: float = 20.0) -> None:
        """Until that many scrapes that began after now have been answered."""
        path = f"/{slot}"
        with self._changed:
            wanted = self._begun[path] + count
            assert self._changed.wait_for(lambda: self._answered[path] >= wanted, timeout_s), "nobody scrapes"

    def begin(self, path: str) -> tuple[int, bytes | None]:
        """Number of this scrape, and what it is answered with."""
        with self._changed:
            self._begun[path] += 1
            number = self._begun[path]
        page = self._pages.get(path)
        return number, page() if page is not None else None

    def end(self, path: str, number: int) -> None:
        with self._changed:
            self._answered[path] = max(self._answered[path], number)
            self._changed.notify_all()


class _Handler(BaseHTTPRequestHandler):
    pages: Pages

    def do_GET(self) -> None:
        number, body = self.pages.begin(self.path)
        self.send_response(200 if body is not None else 500)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the scraper was stopped
            self.wfile.write(body or b"")
        self.pages.end(self.path, number)

    def log_message(self, format: str, *args: object) -> None:
        return
