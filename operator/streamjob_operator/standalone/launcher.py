"""The user's job as a child process: started through the agent's runner, its code unchanged."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from streamjob_operator.spec import Application
from streamjob_operator.standalone.submission import command, environment, main_file

STOP_POLL_S = 0.1
LAST_LINES, LAST_BYTES, LINE_CHARACTERS = 5, 20_000, 300


class DriverError(Exception):
    """The driver cannot be started; the text is a sentence for the user."""


class Driver:
    """One run of the user's script, with everything about it in one folder.

    Its output goes to `driver.log`, its process id to `driver.pid`; the agent writes its address to `agent.address` and
    remembers placements in `agent/`.
    """

    def __init__(self, application: Application, folder: Path) -> None:
        self._application = application
        self.log = folder / "driver.log"
        self.address_file = folder / "agent.address"
        self._pid_file = folder / "driver.pid"
        self._state_dir = folder / "agent"
        self._process: subprocess.Popen[bytes] | None = None
        self._code: int | None = None  # of the newest one that was stopped

    def check(self) -> None:
        """Raises DriverError when the script is missing, or an earlier driver still runs the job."""
        script = main_file(self._application)
        if "://" not in script and not Path(script).exists():
            where = "" if Path(script).is_absolute() else f" in {Path.cwd()}"
            raise DriverError(f"spec.application.mainFile: {script} given; there is no such file{where}.")
        pid = survivor(self._pid_file)
        if pid is not None:
            raise DriverError(
                f"The job runs already: its driver is process {pid}, which outlived its controller. "
                f"Add --attach {_address(self.address_file)} to look after it, or end it with: kill {pid}"
            )

    def start(self) -> None:
        """Start the driver; raises OSError when that is impossible."""
        self._code = None
        self._state_dir.mkdir(parents=True, exist_ok=True)
        self.address_file.unlink(missing_ok=True)  # the address of an earlier driver leads nowhere, or to a stranger
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command(self._application),
                env=environment(self._application, self.address_file, self._state_dir, os.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A group of its own: Ctrl-C reaches the controller alone, which then stops the job in order.
                start_new_session=True,
            )
        self._pid_file.write_text(str(self._process.pid), encoding="ascii")

    def exit_code(self) -> int | None:
        """None while it runs, or before it was started."""
        return self._code if self._process is None else self._process.poll()

    def stop(self, grace_s: float = 20.0) -> None:
        """Ask the driver, then all of its process group, then kill what is left: the JVM and its executors.

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
        self._pid_file.unlink(missing_ok=True)

    def last_words(self) -> tuple[str, ...]:
        """The last lines of the log, nothing when there is none."""
        if not self.log.exists():
            return ()
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - LAST_BYTES))
            lines = [line.rstrip()[:LINE_CHARACTERS] for line in log.read().decode("utf-8", "replace").splitlines()]
        return tuple([line for line in lines if line][-LAST_LINES:])


def survivor(pid_file: Path) -> int | None:
    """The process id of an earlier driver that still runs; a number that another program has by now does not count."""
    try:
        pid = int(pid_file.read_text(encoding="ascii"))
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if b"streamjob_agent" in words else None


def _address(address_file: Path) -> str:
    return address_file.read_text(encoding="utf-8").strip() if address_file.exists() else "ADDRESS"


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
