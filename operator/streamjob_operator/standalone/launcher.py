"""The user's job as a child process: started through the agent's runner, its code unchanged."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from streamjob_operator.spec import Application

RECOMMENDED = {
    # The scheduler obeys placements only if it waits for the executor that has the state, and for nothing else.
    "spark.locality.wait": "0s",
    "spark.locality.wait.process": "30s",
    # An executor that is removed is empty: it leaves at once, without copying blocks around.
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "false",
}
"""Settings given to the job unless it states its own."""
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

    def check(self) -> None:
        """Raises DriverError when the script is missing, or an earlier driver still runs the job."""
        script = main_file(self._application)
        if not Path(script).exists():
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
        return None if self._process is None else self._process.poll()

    def stop(self, grace_s: float = 20.0) -> None:
        """Ask the driver, then all of its process group, then kill what is left: the JVM and its executors.

        The JVM ends by itself once its Python is gone; executors that are asked first would be started anew by it.
        """
        if self._process is None:
            return
        self._process.terminate()
        for ask in (signal.SIGTERM, signal.SIGKILL):
            if self._gone_within(grace_s / 2):
                break
            _signal_group(self._process.pid, ask)
        self._process.wait()
        self._pid_file.unlink(missing_ok=True)

    def last_words(self) -> tuple[str, ...]:
        """The last lines of the log, nothing when there is none."""
        if not self.log.exists():
            return ()
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - LAST_BYTES))
            lines = [line.rstrip()[:LINE_CHARACTERS] for line in log.read().decode("utf-8", "replace").splitlines()]
        return tuple([line for line in lines if line][-LAST_LINES:])

    def _gone_within(self, seconds: float) -> bool:
        deadline_s = time.monotonic() + seconds
        while self._process is not None and (self._process.poll() is None or _group_lives(self._process.pid)):
            if time.monotonic() >= deadline_s:
                return False
            time.sleep(STOP_POLL_S)
        return True


def command(application: Application) -> list[str]:
    """`python -m streamjob_agent run FILE ARGS`; a local:// path is a path on this machine."""
    return [sys.executable, "-m", "streamjob_agent", "run", main_file(application), *application.args]


def main_file(application: Application) -> str:
    """The script's path on this machine."""
    return application.main_file.removeprefix("local://")


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


def environment(
    application: Application, address_file: Path, state_dir: Path, inherited: Mapping[str, str]
) -> dict[str, str]:
    """The driver's environment: where the agent reports itself, and the job's Spark settings."""
    settings = spark_settings(application)
    added = {
        "STREAMJOB_AGENT_ADDRESS_FILE": str(address_file.resolve()),
        "STREAMJOB_AGENT_STATE_DIR": str(state_dir.resolve()),
        "PYSPARK_SUBMIT_ARGS": submit_args(settings),
        "PYTHONUNBUFFERED": "1",
    }
    if application.checkpoint is not None:
        added["STREAMJOB_CHECKPOINT"] = application.checkpoint
    if settings.get("spark.master", "local").startswith("local") and "SPARK_LOCAL_IP" not in inherited:
        added["SPARK_LOCAL_IP"] = "127.0.0.1"
    return {"PYSPARK_PYTHON": sys.executable, **inherited, **added}


def spark_settings(application: Application) -> dict[str, str]:
    """Recommended settings, the sizes that the job states, and above all its own settings."""
    sizes: dict[str, str] = {}
    for role, pod in (("driver", application.driver), ("executor", application.executor)):
        stated = pod.model_fields_set
        sizes.update({f"spark.{role}.cores": str(pod.cores)} if "cores" in stated else {})
        sizes.update({f"spark.{role}.memory": pod.memory} if "memory" in stated else {})
    return {**RECOMMENDED, **sizes, **application.spark_conf}


def submit_args(settings: Mapping[str, str]) -> str:
    """What pyspark hands to spark-submit; it splits the text like a shell."""
    words = [word for name, value in sorted(settings.items()) for word in ("--conf", f"{name}={value}")]
    return shlex.join([*words, "pyspark-shell"])


def _signal_group(group: int, what: signal.Signals) -> None:
    if _group_lives(group):
        os.killpg(group, what)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
