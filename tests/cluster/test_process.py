"""Programs of the tests: a log, bounded waits, a certain end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from e2e.cluster.process import DidNotStart, Process, free_ports

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def python(script: str, folder: Path) -> Process:
    return Process("script", [sys.executable, "-c", script], folder / "log")


def test_one_that_ends_before_it_is_ready_is_told_with_its_last_words(tmp_path: Path) -> None:
    process = python("print('no room here'); raise SystemExit(3)", tmp_path)
    process.start()
    with pytest.raises(DidNotStart, match=r"(?s)script ended at once:.*no room here"):
        process.wait_until(lambda: False, 30)


def test_one_that_is_never_ready_is_told_after_the_limit(tmp_path: Path) -> None:
    process = python("import time; time.sleep(60)", tmp_path)
    process.start()
    with pytest.raises(DidNotStart, match="not ready within 0 s"):
        process.wait_until(lambda: False, 0.2)
    process.stop()
    assert process.pid is None


def test_one_that_does_not_listen_is_killed_and_can_be_started_again(tmp_path: Path) -> None:
    process = python(STUBBORN, tmp_path)
    for runs in (1, 2):
        process.start()
        process.wait_until(lambda: process.tail().count("up") == runs, 30)  # noqa: B023 - called at once
        assert process.pid is not None
        process.stop(grace_s=0.1)
        assert process.pid is None


def test_ports_are_free_and_differ() -> None:
    assert len(set(free_ports(50))) == 50
