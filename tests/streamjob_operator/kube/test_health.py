"""/healthz and /readyz: what the operator's life looks like from outside."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from streamjob_operator.kube.process import health
from streamjob_operator.kube.process.health import MOST_CONNECTIONS, HealthServer, KeptPage
from streamjob_operator.kube.process.main import STUCK_S, Life

Page = Callable[[str], tuple[int, str]]


@pytest.fixture
def life() -> Life:
    return Life()


@pytest.fixture
def page(life: Life) -> Iterator[Page]:
    """Asks a server that tells of this life; status and text."""
    registry = CollectorRegistry()
    Counter("turns", "Turns.", registry=registry).inc(3)
    with HealthServer("127.0.0.1", 0, alive=life.alive, ready=life.ready, registry=registry) as server:

        def ask(path: str) -> tuple[int, str]:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=10.0) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as error:
                return error.code, error.read().decode()

        yield ask


def test_before_the_api_server_has_answered_it_lives_and_is_not_ready(page: Page) -> None:
    assert page("/healthz") == (200, "ok\n")
    assert page("/readyz") == (503, "The API server has not answered yet.\n")


def test_one_that_waits_for_the_lease_is_ready_to_take_over(page: Page, life: Life) -> None:
    life.waits_for = None
    assert page("/readyz") == (200, "ok\n")
    assert page("/healthz") == (200, "ok\n")  # nothing beats yet, and nothing is stuck


def test_a_leader_without_watches_is_not_ready(page: Page, life: Life) -> None:
    life.waits_for, life.leads = None, True
    life.beat_s = time.monotonic()
    assert page("/readyz") == (503, "The watches are not open yet.\n")
    assert page("/healthz") == (200, "ok\n")
    life.watches = True
    assert page("/readyz") == (200, "ok\n")


def test_a_leader_whose_loop_is_stuck_is_to_be_started_again(page: Page, life: Life) -> None:
    life.waits_for, life.leads, life.watches = None, True, True
    life.beat_s = time.monotonic() - STUCK_S - 100.0
    status, text = page("/healthz?verbose")
    assert status == 503
    assert text.startswith("The event loop has been stuck for 1")
    life.beat_s = time.monotonic()
    assert page("/healthz") == (200, "ok\n")


def test_metrics_beside_them_and_nothing_else(page: Page) -> None:
    status, text = page("/metrics")
    assert (status, "turns_total 3.0\n" in text) == (200, True)
    assert page("/") == (404, "There are /healthz, /readyz and /metrics.\n")


def test_any_number_of_connections_leaves_room_for_a_probe(life: Life) -> None:
    """Any pod may open them; the oldest is hung up for the newest, and no more threads than that are there."""
    before = threading.active_count()
    pages = HealthServer("127.0.0.1", 0, alive=life.alive, ready=life.ready, registry=CollectorRegistry())
    with pages as server, contextlib.ExitStack() as stack:
        where = ("127.0.0.1", server.port)
        silent = [stack.enter_context(socket.create_connection(where, 60.0)) for _ in range(3 * MOST_CONNECTIONS)]
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/healthz", timeout=60.0) as answer:
            assert answer.status == 200
        assert [one.recv(1) for one in silent[:MOST_CONNECTIONS]] == [b""] * MOST_CONNECTIONS
        until_s = time.monotonic() + 60.0  # who was hung up has read that, and its thread ends a moment later
        while threading.active_count() - before > MOST_CONNECTIONS + 2 and time.monotonic() < until_s:
            time.sleep(0.01)
        assert threading.active_count() - before <= MOST_CONNECTIONS + 2


def test_the_page_of_metrics_is_not_made_for_everybody_who_asks() -> None:
    now_s, made = [0.0], []

    class Slow(Collector):
        def collect(self) -> Iterator[Metric]:
            made.append(now_s[0])
            now_s[0] += 0.5
            yield GaugeMetricFamily("turns", "Turns.", value=float(len(made)))

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Slow())
    page = KeptPage(registry, lambda: now_s[0])
    made.clear()
    texts = []
    while now_s[0] < 20.0:
        texts.append(page.text())
        now_s[0] += 0.1
    assert len(made) <= 5
    assert texts[0] != texts[-1]


def test_who_says_nothing_is_not_listened_to_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each connection has a thread, and any pod may open one."""
    monkeypatch.setattr(health, "LONGEST_WAIT_S", 0.05)
    life = Life()
    pages = HealthServer("127.0.0.1", 0, alive=life.alive, ready=life.ready, registry=CollectorRegistry())
    with pages as server, socket.create_connection(("127.0.0.1", server.port), timeout=60.0) as silent:
        assert silent.recv(1) == b""
