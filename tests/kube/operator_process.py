"""The operator as a process of its own, that tests may kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from kubectl import eventually

LAUNCHER = Path(__file__).parent / "launch_operator.py"


class OperatorProcess:
    """`streamjob operator` for one namespace. Leaves its log to whoever reads `log`; use as a context manager."""

    def __init__(self, kubeconfig: Path, namespace: str, *options: str) -> None:
        self._command = [
            *(sys.executable, str(LAUNCHER), "operator", f"--kubeconfig={kubeconfig}"),
            *(f"--namespace={namespace}", f"--lease-namespace={namespace}", "--listen=127.0.0.1", "--port=0"),
            *options,
        ]
        self._file = tempfile.NamedTemporaryFile(prefix="operator-", suffix=".log", mode="w+b")  # noqa: SIM115
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> OperatorProcess:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.end(signal.SIGKILL)
        print(self.log)  # shown by pytest when the test failed
        self._file.close()

    def start(self, **environ: str) -> None:
        """Start it, or start it again."""
        self.process = subprocess.Popen(self._command, env={**os.environ, **environ}, stderr=self._file)

    def end(self, how: signal.Signals = signal.SIGTERM, timeout_s: float = 30.0) -> int:
        """Send a signal and wait for the end; the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(timeout_s)

    @property
    def log(self) -> str:
        return Path(self._file.name).read_text(encoding="utf-8", errors="replace")

    def lines(self) -> list[dict[str, Any]]:
        """The log's lines that are whole."""
        return [json.loads(line) for line in self.log.splitlines() if line.startswith("{") and line.endswith("}")]

    def page(self, path: str) -> tuple[int, str]:
        """Status and text of one of its pages."""
        port = next(line["port"] for line in self.lines() if "port" in line)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10.0) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def wait_for(self, message: str, timeout_s: float = 30.0) -> None:
        """Until a line has this in its message."""
        eventually(lambda: any(message in line["message"] for line in self.lines()), timeout_s)
