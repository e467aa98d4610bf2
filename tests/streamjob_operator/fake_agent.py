"""A tiny agent on loopback: a metrics page made from a few numbers, a status, and assignments that it keeps."""

import dataclasses
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from streamjob_agent import metric_names as names
from streamjob_agent.wire import (
    AgentStatus,
    Assignment,
    ExecutorStatus,
    QueryStatus,
    assignment_from_json,
    status_to_json,
)


@dataclasses.dataclass(kw_only=True)
class FakeAgent:
    """Two executors, one operator with four partitions; `advance` is one batch."""

    application: str = "app-1"
    run: str = "run-1"
    batches: int = 0
    busy_s: list[float] = dataclasses.field(default_factory=lambda: [0.0] * 4)
    warmup_s: list[float] = dataclasses.field(default_factory=lambda: [0.0] * 4)
    owners: list[str] = dataclasses.field(default_factory=lambda: ["0", "0", "1", "1"])
    told: list[str] | None = None  # owners as the status has them, where these are others than on the page
    generation: int | None = None
    actuation: str = "on"
    moves_pending: int = 0
    refusal: str | None = None
    said: str = ""
    status_code: int = 200
    cut: bool = False
    garbage: bytes | None = None
    spoiled: tuple[str, str] | None = None  # in every line of the page the first text is the second one
    traffic_bytes: float = 0.0
    traffic_batches: int = 0
    reads_traffic: bool = True
    tells_stages: bool = True
    state_limit: int | None = None  # memory for state on executor 0; group k's takes 500 + k bytes
    pinned: tuple[int, ...] = ()  # partitions that stay where they are
    squared_s2: float = 0.0
    idle_since_s: float | None = None
    running: tuple[float, int] | None = None  # the batch that runs: when it began, and its rows
    ended: bool = False
    stage_s: dict[str, float] = dataclasses.field(default_factory=lambda: {"free-0.0": 0.0, "operator-0": 0.0})
    assignments: list[Assignment] = dataclasses.field(default_factory=list)

    def advance(self, *busy_s: float) -> None:
        self.batches += 1
        self.busy_s = [total + more for total, more in zip(self.busy_s, busy_s, strict=True)]
        self.squared_s2 += sum(seconds**2 for seconds in busy_s)
        self.stage_s["free-0.0"] += 0.25
        self.stage_s["operator-0"] += sum(busy_s)
        if self.reads_traffic:  # a reading of 100 bytes stands for every batch since the one before
            self.traffic_bytes += 100.0 * (self.batches - self.traffic_batches)
            self.traffic_batches = self.batches

    def page(self) -> str:
        query = '{query="q"}'
        lines = [f'{names.AGENT_INFO}{{agent_version="1",spark_version="4",application="{self.application}"}} 1']
        lines += [f'{names.QUERY_INFO}{{query="q",name="",run="{self.run}"}} 1'] * (not self.ended)
        lines += [] if self.idle_since_s is None else [f"{names.QUERY_IDLE_SINCE}{query} {self.idle_since_s}"]
        if self.running is not None:
            since_s, rows = self.running
            lines += [f"{names.QUERY_RUNNING_SINCE}{query} {since_s}", f"{names.QUERY_RUNNING_ROWS}{query} {rows}"]
        for partition, (busy_s, owner) in enumerate(zip(self.busy_s, self.owners, strict=True)):
            labels = f'{{query="q",operator="0",partition="{partition}"}}'
            lines += [f"{names.GROUP_BUSY_SECONDS}{labels} {busy_s}", f"{names.GROUP_RECORDS}{labels} {100 * busy_s}"]
            lines += [f"{names.GROUP_STATE_BYTES}{labels} 1000", f"{names.GROUP_EXECUTOR_ID}{labels} {owner}"]
            lines += [f"{names.GROUP_WARMUP_SECONDS}{labels} {self.warmup_s[partition]}"] * (
                self.warmup_s[partition] > 0
            )
        lines += [f'{names.GROUP_PINNED}{{query="q",operator="0",partition="{one}"}} 1' for one in self.pinned]
        for executor in ("0", "1"):
            lines += [f'{names.EXECUTOR_CORES}{{executor="{executor}",host="h"}} 2']
            lines += [f'{names.EXECUTOR_STATE}{{executor="{executor}",state="ready"}} 1']
        lines += [f'{names.EXECUTOR_STATE}{{executor="7",state="dead"}} 1']
        pair = '{query="q",from_operator="0",from_partition="0",to_operator="0",to_partition="3"}'
        lines += [f"{names.TRAFFIC_BYTES}{pair} {self.traffic_bytes}"]
        lines += [f"{names.QUERY_BATCHES}{query} {self.batches}", f"{names.QUERY_BATCH_SECONDS}{query} {self.batches}"]
        lines += [f"{names.QUERY_INPUT_ROWS}{query} {1000 * self.batches}", f"{names.QUERY_TRIGGER_SECONDS}{query} 2"]
        lines += [f'{names.PART_SECONDS}{{query="q",part="queryPlanning"}} {self.batches / 4}']
        lines += [f"{names.QUERY_TRAFFIC_BATCHES}{query} {self.traffic_batches}"]
        if self.tells_stages:
            lines += self._told_stages()
        if self.state_limit is not None:
            lines += self._told_memory(self.state_limit)
        page = "\n".join(lines) + "\n"
        return page if self.spoiled is None else page.replace(*self.spoiled)

    @staticmethod
    def _told_memory(limit: int) -> list[str]:
        labels = [f'{{query="q",operator="0",partition="{partition}"}}' for partition in range(4)]
        lines = [f"{names.GROUP_STATE_MEMORY}{label} {500 + at}" for at, label in enumerate(labels)]
        limits = [f'{names.EXECUTOR_STATE_LIMIT}{{query="{query}",executor="0"}}' for query in ("q", "other")]
        return [*lines, f"{limits[0]} {limit}", f"{limits[1]} {limit + 1}"]

    def _told_stages(self) -> list[str]:
        """Two slots for each stage, whose longest task takes half of its run time; and what group 0 sends in all."""
        lines = [f'{names.OPERATOR_SQUARED_SECONDS}{{query="q",operator="0"}} {self.squared_s2}']
        for level, (stage, busy_s) in enumerate(self.stage_s.items()):
            labels = f'{{query="q",stage="{stage}"}}'
            lines += [f"{names.STAGE_LEVEL}{labels} {level}", f"{names.STAGE_BUSY_SECONDS}{labels} {busy_s}"]
            lines += [f"{names.STAGE_WALL_SECONDS}{labels} {busy_s / 2}"]
            lines += [f"{names.STAGE_LONGEST_SECONDS}{labels} {busy_s / 2}"]
            lines += [f"{names.STAGE_WAIT_SECONDS}{labels} {3 * self.batches}"]
        sent = f'{names.GROUP_SENT_BYTES}{{query="q",operator="0",partition="0"}}'
        return [*lines, f"{sent} {3 * self.traffic_bytes}"]

    def status(self) -> AgentStatus:
        query = QueryStatus(
            query_id="q",
            run_id=self.run,
            name=None,
            batch_id=self.batches,
            owners={0: tuple(self.owners if self.told is None else self.told)},
            moves_pending=self.moves_pending,
        )
        return AgentStatus(
            agent_version="1",
            spark_version="4",
            application_id=self.application,
            now_s=0.0,
            actuation=self.actuation,
            reason="Ok" if self.actuation == "on" else "SelfTestFailed",
            message=self.said,
            generation_applied=self.generation,
            refused=None,
            executors=tuple(
                ExecutorStatus(executor_id=one, host="h", cores=2, state="ready", groups=2) for one in ("0", "1")
            ),
            queries=(query,),
        )


class Server:
    """Serves a FakeAgent as a context manager; gives its address."""

    def __init__(self, agent: FakeAgent) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"agent": agent}))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5.0)


class _Handler(BaseHTTPRequestHandler):
    agent: FakeAgent

    def do_GET(self) -> None:
        body = self.agent.page() if self.path == "/metrics" else status_to_json(self.agent.status())
        sent = body.encode() if self.agent.garbage is None else self.agent.garbage
        self._answer(self.agent.status_code, sent[: len(sent) // 2] if self.agent.cut else sent, len(sent))

    def do_PUT(self) -> None:
        assignment = assignment_from_json(self.rfile.read(int(self.headers["Content-Length"])))
        if self.agent.refusal is not None:
            self._answer(409, self.agent.refusal.encode())
            return
        self.agent.assignments.append(assignment)
        self.agent.generation = assignment.generation
        self._answer(202, b"{}")

    def _answer(self, code: int, body: bytes, length: int | None = None) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return
