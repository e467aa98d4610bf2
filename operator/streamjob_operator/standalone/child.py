"""A process that is started for a job, in a group of its own, with its output and its number in the job's folder."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

STOP_POLL_S = 0.1
LAST_LINES, LAST_BYTES, LINE_CHARACTERS = 5, 20_000, 300


class Child:
    """One process after another of one kind: its output goes to `NAME.log`, its process id to `NAME.pid`."""

    def __init__(self, folder: Path, name: str) -> None:
        self.log = folder / f"{name}.log"
        self.pid_file = folder / f"{name}.pid"
        self._process: subprocess.Popen[bytes] | None = None
        self._code: int | None = None  # of the newest one that was stopped

    def launch(self, words: Sequence[str], env: Mapping[str, str]) -> None:
        """Start it; raises OSError when that is impossible, or nobody could find it later: then nothing runs."""
        self._code = None
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                words,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A group of its own: Ctrl-C reaches the controller alone, which then stops the job in order.
                start_new_session=True,
            )
        try:
            self.pid_file.write_text(str(self._process.pid), encoding="ascii")
        except OSError:  # a full disk
            self.stop(grace_s=0.0)
            raise

    def exit_code(self) -> int | None:
        """None while it runs, or before it was started."""
        return self._code if self._process is None else self._process.poll()

    def ask_to_stop(self) -> None:
        """Ask the process itself, and wait for nothing."""
        if self._process is not None:
            self._process.terminate()

    def stop(self, grace_s: float = 20.0) -> None:
        """Ask the process, then all of its group, then kill what is left: a JVM and its executors.

        The JVM ends by itself once its Python is gone; executors that are asked first would be started anew by it.
        """
        # Once: the number of a group that is gone may soon be a stranger's.
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        for ask in (signal.SIGTERM, signal.SIGKILL):
            if _gone_within(process, grace_s / 2):
                break
            _signal_group(process.pid, ask)
        self._code = process.wait()
        with contextlib.suppress(OSError):  # one that stays names nobody who runs
            self.pid_file.unlink(missing_ok=True)

    def survivor(self) -> int | None:
        """The process id of one that an earlier controller started and that still runs."""
        return survivor(self.pid_file)

    def last_words(self) -> tuple[str, ...]:
        """The last lines of the log, nothing when there is none."""
        if not self.log.exists():
            return ()
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - LAST_BYTES))
            lines = [line.rstrip()[:LINE_CHARACTERS] for line in log.read().decode("utf-8", "replace").splitlines()]
        return tuple([line for line in lines if line][-LAST_LINES:])


def survivor(pid_file: Path) -> int | None:
    """The process id of an earlier one that still runs; a number that another program has by now does not count."""
    try:
        pid = int(pid_file.read_text(encoding="ascii"))
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if b"streamjob_agent" in words else None


def _gone_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    deadline_s = time.monotonic() + seconds
    while process.poll() is None or _group_lives(process.pid):
        if time.monotonic() >= deadline_s:
            return False
        time.sleep(STOP_POLL_S)
    return True


def _signal_group(group: int, what: signal.Signals) -> None:
    if _group_lives(group):
        os.killpg(group, what)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
