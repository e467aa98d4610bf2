"""As much of a Prometheus and of an API server as one operator's turns ask for, in a process of its own.

So what a turn costs the operator holds what HTTP, JSON and both clients cost it, and nothing of what servers cost. Time
is what the operator's process says it is: hours of cycles take seconds.
"""

from __future__ import annotations

import json
import multiprocessing
import re
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from benchmarks.operator.paper_job import PaperJob

from streamjob_agent import metric_names as names
from streamjob_agent.map_form import assignment_from_spec, status_to_map
from streamjob_planners.model import FloatArray

SCRAPE_S = 15.0
_NAMES = re.compile(r'__name__=~"([^"]*)"')
_RANGE = re.compile(r"\[(\d+)(ms|s)\]$")
_PATH = re.compile(r"/apis?/(?:(?P<group>[^/]+)/)?v1(?:alpha1)?(?:/namespaces/(?P<space>[^/]+))?/(?P<plural>[a-z]+)")
_KEPT = {"query", "operator", "partition", "executor", "stage", *names.TRAFFIC_LABELS[1:]}
Object = dict[str, Any]


class PaperCluster:
    """One job's servers; a context manager. `at` moves the time, `shift` the loads from then on."""

    def __init__(self, groups: int, executors: int, now_s: float) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, groups, executors, now_s), daemon=True)
        self.address = ""

    def __enter__(self) -> PaperCluster:
        self._process.start()
        self.address = self._pipe.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join(10.0)

    def at(self, now_s: float) -> Object:
        """It is then now; the agent obeys what was written. The PartitionMap with its newest report."""
        return self._asked(("at", now_s))

    def shift(self) -> None:
        """Key groups have other loads."""
        self._asked(("shift", 0.0))

    def _asked(self, what: tuple[str, float]) -> Object:
        self._pipe.send(what)
        answer: Object = self._pipe.recv()
        return answer


def _serve(pipe: Connection, groups: int, executors: int, now_s: float) -> None:
    world = World(PaperJob("job-0", groups, executors, now_s - 3600.0), now_s)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"world": world}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pipe.send(f"http://127.0.0.1:{server.server_address[1]}")
    while True:
        word, value = pipe.recv()
        pipe.send(getattr(world, word)(value))


class World:
    """The job, its objects, and what is told of both."""

    def __init__(self, job: PaperJob, now_s: float) -> None:
        self.job = job
        self.now_s = now_s
        self.objects: dict[tuple[str, str], Object] = {}
        self._version = 1

    def at(self, now_s: float) -> Object:
        """See PaperCluster."""
        self.now_s = now_s
        found = self.objects.get(("partitionmaps", self.job.name))
        if found is None:
            return {}
        spec = found.get("spec") or {}
        if spec.get("generation") not in (None, 0, self.job.generation):
            self.job.submit(assignment_from_spec(spec))
            self.job.moved(now_s)
        return self.keep("partitionmaps", {**found, "status": {**status_to_map(self.job.status()), "now": now_s}})

    def shift(self, _: float) -> Object:
        """See PaperCluster."""
        self.job.shift(self.now_s)
        return {}

    def keep(self, plural: str, document: Object) -> Object:
        """A new version."""
        self._version += 1
        metadata = {"namespace": "default", "generation": 1, **document["metadata"]}
        metadata |= {"uid": f"uid-{metadata['name']}", "resourceVersion": str(self._version)}
        kept = {**document, "metadata": metadata}
        self.objects[(plural, metadata["name"])] = kept
        return kept

    def answered(self, query: str, at_s: float) -> list[Object]:
        """What Prometheus answers to the queries that the operator makes."""
        if query == "vector(time())":
            return [{"metric": {}, "value": [at_s, repr(at_s)]}]
        span = _RANGE.search(query)
        if span is None:
            moments = np.array([_scraped(at_s)])
            return [
                {"metric": _kept(metric), "value": [at_s, repr(float(values[0]))]}
                for metric, values in self._series(query, moments)
            ]
        range_s = float(span[1]) / (1000 if span[2] == "ms" else 1)
        first_s = max(_scraped(at_s - range_s) + SCRAPE_S, self.job.begun_s)
        moments = np.arange(first_s, _scraped(at_s) + 1e-6, SCRAPE_S)
        times = moments.tolist()
        return [
            {"metric": metric, "values": [[at, repr(one)] for at, one in zip(times, values.tolist(), strict=True)]}
            for metric, values in self._series(query, moments)
        ]

    def _series(self, query: str, moments: FloatArray) -> Iterator[tuple[dict[str, str], FloatArray]]:
        target = {"instance": "10.0.0.1:7980", "job": self.job.name, "namespace": "default", "pod": self.job.name}
        found = _NAMES.search(query)
        for name in [names.AGENT_INFO] if found is None else found[1].split("|"):
            if name == names.AGENT_INFO:
                of_agent = {"agent_version": "1", "spark_version": "4", "application": self.job.name}
                yield {"__name__": name, **of_agent, **target}, np.ones(moments.size)
            elif name in ("up", "scrape_samples_scraped"):
                yield {"__name__": name, **target}, np.full(moments.size, 1.0 if name == "up" else 2000.0)
            else:
                for labels, values in self.job.series(name, moments):
                    yield {"__name__": name, **labels, **target}, values


def _scraped(at_s: float) -> float:
    """The newest scrape then."""
    return at_s // SCRAPE_S * SCRAPE_S


def _kept(metric: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in metric.items() if name in _KEPT or name == "__name__"}


class _Handler(BaseHTTPRequestHandler):
    world: World
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for an answer: with two, each waits for the other side's acknowledgement
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        at = urlsplit(self.path)
        if at.path.startswith("/prometheus/"):
            self._prometheus(at.query)
            return
        found = _PATH.match(at.path)
        plural = "" if found is None else found["plural"]
        name, objects = at.path[0 if found is None else found.end() :].strip("/"), self.world.objects
        if name:
            one = objects.get((plural, name))
            self._answer(one or {"kind": "Status", "reason": "NotFound", "code": 404}, 200 if one else 404)
        else:
            items = [one for (kind, _), one in objects.items() if kind == plural]
            self._answer({"kind": "List", "metadata": {"resourceVersion": "1"}, "items": items})

    def do_POST(self) -> None:
        given, found = self._body(), _PATH.match(self.path)
        plural = "" if found is None else found["plural"]
        self._answer(given if plural == "events" else self.world.keep(plural, given), 201)

    def do_PATCH(self) -> None:
        given = self._body()
        found = _PATH.match(self.path)
        plural = "" if found is None else found["plural"]
        there = self.world.objects.get((plural, given["metadata"]["name"]), {})
        metadata = {**there.get("metadata", {}), **given["metadata"]}
        self._answer(self.world.keep(plural, {**there, **given, "metadata": metadata}))

    def _prometheus(self, query: str) -> None:
        asked = parse_qs(query)
        at_s = float(asked["time"][0]) if "time" in asked else self.world.now_s
        self._answer({"status": "success", "data": {"result": self.world.answered(asked["query"][0], at_s)}})

    def _body(self) -> Object:
        found: Object = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return found

    def _answer(self, document: Object, code: int = 200) -> None:
        body = json.dumps(document, separators=(",", ":")).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""
