"""A server in the background is known by its pid and its command line, and is not mistaken for another process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.cluster.server import Server

WAIT = "import time; time.sleep(60)"


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(role="serve", folder=tmp_path)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", WAIT, "e2e.cluster.local"]) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        until_s = time.monotonic() + 20.0
        while not Path(f"/proc/{process.pid}/cmdline").read_bytes() and time.monotonic() < until_s:
            time.sleep(0.01)  # a new program has none for a moment
        yield process
        process.kill()


def test_without_a_pid_nothing_runs(server: Server) -> None:
    assert server.pid is None
    (server.folder / "pid").write_text("")
    assert server.pid is None
    server.stop()


def test_a_pid_that_another_process_has_got_is_nobodys(server: Server) -> None:
    with subprocess.Popen([sys.executable, "-c", WAIT]) as other:
        (server.folder / "pid").write_text(str(other.pid))
        assert server.pid is None
        server.stop()
        assert other.poll() is None
        other.kill()


def test_a_server_is_known_and_ends_when_it_is_told_to(server: Server, running: subprocess.Popen[bytes]) -> None:
    assert server.pid == running.pid
    server.stop()
    assert running.wait(10.0) == -15
    assert server.pid is None
