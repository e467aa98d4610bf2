"""A part of the local cluster that goes on in the background, known by the pid in its folder."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_MODULE = "e2e.cluster.local"
_END_S = 60.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """`python -m e2e.cluster.local ROLE`; `folder` holds its pid and its log."""

    role: str
    folder: Path

    @property
    def pid(self) -> int | None:
        """Its process id, None when it does not run."""
        try:
            pid = int((self.folder / "pid").read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if _MODULE in command.decode("utf-8", "replace") else None

    def start(self, enter: Sequence[str], env: Mapping[str, str]) -> None:
        """Start it by the prefix `enter`; the caller waits for what it is to bring about."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "server.log").open("ab") as log:
            command = [*enter, sys.executable, "-m", _MODULE, self.role]
            environment = {**os.environ, **env}
            subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment
            )

    def announce(self) -> None:
        """Called in the server itself: from now on it is known, and SIGTERM is an ordinary end."""
        (self.folder / "pid").write_text(str(os.getpid()))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    def stop(self) -> None:
        """Ask it to end, and kill it after a minute."""
        pid = self.pid
        if pid is None:
            return
        os.kill(pid, signal.SIGTERM)
        until_s = time.monotonic() + _END_S
        while self.pid is not None and time.monotonic() < until_s:
            time.sleep(0.1)
        if self.pid is not None:
            os.kill(pid, signal.SIGKILL)
