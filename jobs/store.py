"""A file system for checkpoints that a process of ours serves, so that it hangs while that process is stopped.

The process is bindfs, which hands each operation on to another folder by way of the kernel's FUSE: what a checkpoint on
a network's file server is to Spark, without the network. Whoever must not hang looks at that other folder.
"""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import subprocess
import time
from collections.abc import Iterator

from jobs.processes import DIES_WITH_US

START_S, STOP_S = 60.0, 60.0


@contextlib.contextmanager
def serving(kept: pathlib.Path, shown: pathlib.Path) -> Iterator[int]:
    """The process that shows `kept` at `shown`; both are made. ValueError where it cannot be run."""
    program = shutil.which("bindfs")
    if program is None:
        raise ValueError("minutes: stalls of the checkpoint store need bindfs (Debian: apt-get install bindfs).")
    _let_go(shown)
    for folder in (kept, shown):
        folder.mkdir(parents=True, exist_ok=True)
    # A stopped one that is left behind would hang whoever looks there.
    command = [*DIES_WITH_US, program, "-f", str(kept.absolute()), str(shown.absolute())]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            _wait(process, shown)
            yield process.pid
        finally:
            process.terminate()  # it unmounts
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _let_go(shown: pathlib.Path) -> None:
    """What a run left there that was killed: a file system that nobody serves, where even a look fails."""
    program = shutil.which("fusermount3") or "fusermount"
    subprocess.run([program, "-u", "-z", "-q", str(shown.absolute())], capture_output=True, check=False)


def _wait(process: subprocess.Popen[str], shown: pathlib.Path) -> None:
    until_s = time.monotonic() + START_S
    while not shown.is_mount():
        if process.poll() is not None or time.monotonic() > until_s:
            process.kill()
            told = process.stderr.read().strip() if process.stderr is not None else ""
            raise ValueError(f"minutes: bindfs did not show the checkpoints: {told or f'not within {START_S:g} s'}")
        time.sleep(0.05)
