"""SIGTERM while a program runs: what ends it, when, and with which code. Each test is a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

PROGRAM = """
import signal, sys, threading, time
from streamjob_agent.guard import Guard
from streamjob_agent.stopping import GracefulStop
stopped = threading.Event()
def stop_queries(seconds):
{stop}
guard = Guard()
GracefulStop(stop_queries, guard, grace_s=0.3, ending_s=0.3).install()
print("up", flush=True)
{main}
"""
FOREVER = "while True: time.sleep(0.05)"


def run(stop: str, main: str, signals: int = 1) -> tuple[int, str]:
    text = PROGRAM.format(stop=textwrap.indent(stop, "    "), main=main)
    with subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "up\n"
        for _ in range(signals):
            program.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        late = threading.Timer(120.0, program.kill)
        late.start()
        output = program.stdout.read()  # not communicate(): what came with the first line would be lost
        late.cancel()
    return program.returncode, output


def test_a_program_that_ends_with_its_queries_ends_as_it_likes() -> None:
    code, output = run("stopped.set()", "stopped.wait(); print('in order'); sys.exit(5)")
    assert (code, "in order" in output) == (5, True)


def test_a_program_that_ends_at_once_lets_it_be_told_where_its_queries_stopped() -> None:
    code, output = run("stopped.set(); time.sleep(0.1); print('told', flush=True)", "stopped.wait()")
    assert (code, "told" in output) == (0, True)


@pytest.mark.parametrize(
    "stop", ["stopped.set()", "raise RuntimeError('no such query')", "time.sleep(60)"], ids=["works", "fails", "hangs"]
)
def test_a_program_that_goes_on_is_ended_whatever_stopping_does(stop: str) -> None:
    code, output = run(stop, f"try:\n    {FOREVER}\nfinally:\n    print('cleaned up')")
    assert code == 128 + signal.SIGTERM
    assert "cleaned up" in output
    assert "Traceback" not in output


def test_queries_are_stopped_once_however_often_it_is_asked() -> None:
    code, output = run("print('stopping', flush=True); time.sleep(0.2)", FOREVER, signals=3)
    assert code == 128 + signal.SIGTERM
    assert output.count("stopping\n") == 1


def test_a_handler_of_the_programs_own_replaces_ours() -> None:
    own = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))"
    text = PROGRAM.format(stop="    pass", main=f"{own}\nprint('ready', flush=True)\n{FOREVER}")
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert [program.stdout.readline() for _ in range(2)] == ["up\n", "ready\n"]
        program.send_signal(signal.SIGTERM)
        assert program.wait(30) == 9


def test_a_log_of_the_programs_that_raises_keeps_no_query_from_being_stopped() -> None:
    main = """
import logging
raising = logging.Handler()
raising.emit = lambda _: 1 / 0
logging.getLogger("streamjob_agent").addHandler(raising)
stopped.wait()
sys.exit(5)
"""
    assert run("stopped.set()", main)[0] == 5


ENDED = "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)"
FORKED = """
import os
{before}
child = os.fork()
if child == 0:
    signal.alarm(20)
    {ours}
    os._exit(0)
"""


def test_a_pool_that_ends_its_forked_workers_stops_no_query() -> None:
    main = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(abs, [-1, -2]), flush=True)
pool.join()
"""
    assert run("print('stopping', flush=True)", main, signals=0) == (0, "[1, 2]\n")


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("", -signal.SIGTERM),
        ("signal.signal(signal.SIGTERM, lambda *_: os._exit(9))", 9),
        (
            "ours = signal.getsignal(signal.SIGTERM); signal.signal(signal.SIGTERM, lambda *_: ours(*_))",
            -signal.SIGTERM,
        ),
    ],
    ids=["ours", "the program's own", "the program's own calls ours"],
)
def test_a_forked_child_ends_by_a_signal_as_without_us(before: str, code: int) -> None:
    main = FORKED.format(before=before, ours="os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)") + ENDED
    assert run("print('stopping', flush=True)", main, signals=0) == (0, f"{int(code)}\n")


def test_a_child_that_is_forked_by_another_thread_ends_by_a_signal_as_without_us() -> None:
    main = """
import os
def fork():
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
thread = threading.Thread(target=fork)
thread.start()
thread.join()
"""
    assert run("print('stopping', flush=True)", main, signals=0) == (0, f"{-signal.SIGTERM}\n")
