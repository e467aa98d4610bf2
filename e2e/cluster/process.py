"""Programs that end with us: each has a log, a bounded wait, and dies when the process that started it dies."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_TAIL_BYTES = 2000


class DidNotStart(RuntimeError):
    """A program ended, or was not ready in time; the message has the end of its log."""


class Process:
    """One program. `start` and `stop` may be called again and again."""

    def __init__(self, name: str, command: Sequence[str], log: Path, env: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.log = log
        self._command = list(command)
        self._env = {**os.environ, **(env or {})}
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return None if self._running is None or self._running.poll() is not None else self._running.pid

    def start(self) -> None:
        """Start it; its output goes to the end of its log."""
        # The kernel kills it when the thread that started it ends, however it ends: nothing is left running.
        command = ["setpriv", "--pdeathsig", "KILL", "--", *self._command]
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._env, start_new_session=True
            )

    def wait_until(self, ready: Callable[[], bool], timeout_s: float) -> None:
        """Wait until `ready`; raises DidNotStart when the program ends before, or in timeout_s seconds."""
        deadline = time.monotonic() + timeout_s
        while not ready():
            if self.pid is None:
                raise DidNotStart(f"{self.name} ended at once:\n{self.tail()}")
            if time.monotonic() > deadline:
                raise DidNotStart(f"{self.name} was not ready within {timeout_s:.0f} s:\n{self.tail()}")
            time.sleep(0.05)

    def stop(self, grace_s: float = 5.0) -> int | None:
        """End it: asked first, killed after grace_s seconds. Its exit code, None when it was not running."""
        running, self._running = self._running, None
        if running is None:
            return None
        running.terminate()
        try:
            return running.wait(grace_s)
        except subprocess.TimeoutExpired:
            running.kill()
            return running.wait()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._running is not None:
            self._running.kill()
            self._running.wait()

    def tail(self) -> str:
        """The end of its log."""
        return self.log.read_bytes()[-_TAIL_BYTES:].decode("utf-8", "replace") if self.log.exists() else ""


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on.

    Below the range that the kernel hands out to clients, so that none of these takes one before it is used.
    """
    held: list[socket.socket] = []
    try:
        candidates = random.sample(range(15_000, 32_000), 500)
        while len(held) < count and candidates:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            try:
                listener.bind(("127.0.0.1", candidates.pop()))
            except OSError:
                listener.close()
                continue
            held.append(listener)
        if len(held) < count:
            raise OSError("no free ports on 127.0.0.1")
        return [int(one.getsockname()[1]) for one in held]
    finally:
        for one in held:
            one.close()
