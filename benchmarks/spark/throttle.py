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
def throttled(slow: Slow | None, progress: pathlib.Path) -> Iterator[None]:
    """Meanwhile the executor is throttled in its batches. `progress` is a file with a line for each batch that has
    ended. Does nothing where nobody is throttled."""
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(slow, progress, over))
    if slow is None or not slow.throttled:
        yield
        return
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _watch(slow: Slow, progress: pathlib.Path, over: threading.Event) -> None:
    while not over.wait(LOOK_S):
        if slow.first <= _batches(progress) < slow.end:
            process = _process(slow.executor)
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


def _process(executor: str) -> int:
    """The executor's process that this one has started by way of others."""
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if "--executor-id" in words and words[words.index("--executor-id") + 1] == executor and _ours(folder):
                    return int(folder.name)
    raise ProcessLookupError(f"executor {executor}: no process of it was started here")


def _ours(folder: pathlib.Path) -> bool:
    """Whether the process was started by this one, or by one that was. Raises OSError where one has ended."""
    pid = int(folder.name)
    while pid > 1 and pid != os.getpid():
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid == os.getpid()
