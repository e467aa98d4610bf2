"""An executor's process that gets a part of the time: stopped and let go on, fifteen times a second."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import threading
import time
from collections.abc import Iterator

from workload import Slow

RUN_S = 0.02
"""How long it runs each time; it is stopped for the rest, so that `Slow.times` as much time passes."""
LOOK_S = 0.2


@contextlib.contextmanager
def throttled(slow: Slow | None, workers: pathlib.Path, progress: pathlib.Path) -> Iterator[None]:
    """Meanwhile the executor is throttled in its batches. `workers` is Spark's folder of executors, `progress` a file
    with a line for each batch that has ended. Does nothing where nobody is throttled."""
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(slow, workers, progress, over))
    if slow is None or not slow.throttled:
        yield
        return
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _watch(slow: Slow, workers: pathlib.Path, progress: pathlib.Path, over: threading.Event) -> None:
    while not over.wait(LOOK_S):
        if slow.first <= _batches(progress) < slow.end:
            process = _process(slow.executor, workers)
            with contextlib.suppress(ProcessLookupError):  # it has ended
                while _batches(progress) < slow.end and not over.is_set():
                    _slice(process, slow.times)


def _slice(pid: int, times: float) -> None:
    time.sleep(RUN_S)
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(RUN_S * (times - 1.0))
    finally:
        os.kill(pid, signal.SIGCONT)


def _batches(progress: pathlib.Path) -> int:
    return progress.read_bytes().count(b"\n") if progress.exists() else 0


def _process(executor: str, workers: pathlib.Path) -> int:
    """The process whose working directory is that of the executor: one of this run and of no other."""
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                where = (folder / "cwd").readlink()
                if where.name == executor and where.is_relative_to(workers):
                    return int(folder.name)
    raise ProcessLookupError(f"executor {executor}: no process of it below {workers}")
