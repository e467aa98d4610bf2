"""Processes that a benchmark starts, and that leave nothing behind."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence


@contextlib.contextmanager
def child(
    words: Sequence[str], log: pathlib.Path, *, env: Mapping[str, str], grace_s: float, cwd: pathlib.Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """The process, which writes into `log`; whatever happens, nothing that it started lives on.

    It has `grace_s` seconds to end by itself: StreamJob ends the job that it started, which has a process group of its
    own.
    """
    with log.open("wb") as out:
        process = subprocess.Popen(words, env=env, cwd=cwd, stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace_s)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def exit_code(process: subprocess.Popen[bytes], limit_s: float) -> int | None:
    """None when it was too slow."""
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
